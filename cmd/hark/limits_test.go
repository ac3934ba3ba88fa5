package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hark/builder"
	"hark/internal/config"
	"hark/internal/golden"
)

// The configuration can't see the builder's sections. Its help tells their limits as they are.
func TestSectionsOfConfigurationAreTheBuilders(t *testing.T) {
	t.Parallel()
	all, plain := builder.DefaultSections(builder.LayoutSections), builder.DefaultSections(builder.LayoutPlain)
	var named []builder.SectionType
	for field := range reflect.TypeFor[config.Sections]().Fields() {
		section, help := builder.SectionType(field.Tag.Get("toml")), field.Tag.Get("help")
		named = append(named, section)
		limits := all[section]
		want := fmt.Sprintf("ceiling %d", limits.Ceiling)
		if field.Type == reflect.TypeFor[config.Limits]() {
			want = fmt.Sprintf("priority %d, floor %d, ceiling %d", limits.Priority, limits.Floor, limits.Ceiling)
		}
		if _, there := plain[section]; there && !strings.Contains(help, fmt.Sprintf("%d)", plain[section].Ceiling)) {
			t.Errorf("%s: the help doesn't tell the plain layout's ceiling of %d: %s", section, plain[section].Ceiling, help)
		}
		if !strings.Contains(help, want) {
			t.Errorf("%s: the help doesn't say %q: %s", section, want, help)
		}
	}
	if slices.Sort(named); !slices.Equal(named, slices.Sorted(maps.Keys(all))) {
		t.Errorf("sections %v, the builder has %v", named, slices.Sorted(maps.Keys(all)))
	}
}

func TestSectionsAreSet(t *testing.T) {
	t.Parallel()
	number := func(n int) *int { return &n }
	c := config.Default().Builder
	c.Sections.History = config.Limits{Ceiling: number(900), Modes: "search,analysis search"}
	c.Sections.Lore.Priority = number(9)
	c.Sections.System.Ceiling = number(500)
	got, err := sections(c)
	want := builder.DefaultSections(builder.LayoutSections)
	want[builder.SectionHistory] = builder.Limits{Priority: 1, Floor: 300, Ceiling: 900, Modes: []builder.Mode{builder.ModeSearch, builder.ModeAnalysis}}
	want[builder.SectionLore] = builder.Limits{Priority: 9, Ceiling: 400}
	want[builder.SectionSystem] = builder.Limits{Ceiling: 500}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	c.Sections.Lore.Modes = "dancing"
	_, err = sections(c)
	golden.Seen(t, fmt.Sprint(err))
	c.Layout = "plain"
	c.Sections = config.Sections{People: config.Limits{Floor: number(1)}}
	_, err = sections(c)
	golden.Seen(t, fmt.Sprint(err))
}
