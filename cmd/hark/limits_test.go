package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hark/builder"
	"hark/internal/config"
	"hark/internal/golden"
)

// The configuration can't see the builder's sections. Its page tells their limits as they are.
func TestSectionsOfConfigurationAreTheBuilders(t *testing.T) {
	t.Parallel()
	all, page := builder.DefaultSections(builder.LayoutSections), strings.Join(strings.Fields(config.Reference()), " ")
	set := config.Default().Builder.Sections
	for section, limits := range all {
		want := fmt.Sprintf("%s: priority %d, floor %d, ceiling %d", section, limits.Priority, limits.Floor, limits.Ceiling)
		if section == builder.SectionSystem || section == builder.SectionQuery {
			want = fmt.Sprintf("ceiling %d", limits.Ceiling)
		}
		if set[string(section)] == nil || !strings.Contains(page, want) {
			t.Errorf("the page doesn't say %q", want)
		}
	}
	if len(set) != len(all) {
		t.Errorf("%d sections, the builder has %d", len(set), len(all))
	}
}

func TestSectionsAreSet(t *testing.T) {
	t.Parallel()
	number := func(n int) *int { return &n }
	c := config.Default().Builder
	c.Sections["history"] = &config.Limits{Ceiling: number(900), Modes: "search,analysis search"}
	c.Sections["lore"].Priority = number(9)
	c.Sections["system_prompt"].Ceiling = number(500)
	got, err := sections(c)
	want := builder.DefaultSections(builder.LayoutSections)
	want[builder.SectionHistory] = builder.Limits{Priority: 1, Floor: 300, Ceiling: 900, Modes: []builder.Mode{builder.ModeSearch, builder.ModeAnalysis}}
	want[builder.SectionLore] = builder.Limits{Priority: 9, Ceiling: 400}
	want[builder.SectionSystem] = builder.Limits{Ceiling: 500}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	c.Sections["lore"].Modes = "dancing"
	_, err = sections(c)
	golden.Seen(t, fmt.Sprint(err))
	c.Layout = "plain"
	c.Sections = config.Sections{"participants": {Floor: number(1)}}
	_, err = sections(c)
	golden.Seen(t, fmt.Sprint(err))
}
