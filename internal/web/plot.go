package web

import (
	"fmt"
	"slices"
	"time"
)

// plot is a picture of stacked bars, drawn by the template "plot". Its numbers stand beside it as a table.
type plot struct {
	Title  string
	Series []string // the parts of each bar, from below
	Bars   []bar
	Width  int
	Height int
	Top    string // the label of the highest value
}

type bar struct {
	Label string
	X, W  float64
	Parts []barPart
	Total int
}

type barPart struct {
	Series int
	Value  int
	Y, H   float64
}

const (
	plotWidth  = 720
	plotHeight = 160
	maxSeries  = 8 // further ones are drawn together: there are no more colours
)

// newPlot draws values[bar][series].
func newPlot(title string, labels, series []string, values [][]int) plot {
	p := plot{
		Title:  title,
		Series: series,
		Width:  plotWidth,
		Height: plotHeight,
	}
	if len(series) > maxSeries {
		p.Series = append(slices.Clone(series[:maxSeries-1]), "others")
	}
	most := 1
	for _, v := range values {
		most = max(most, sum(v))
	}
	p.Top = number(most)
	step := float64(plotWidth) / float64(max(1, len(labels)))
	for i, label := range labels {
		b := bar{
			Label: label,
			X:     float64(i) * step,
			W:     max(1, step*0.8),
			Total: sum(values[i]),
		}
		y := float64(plotHeight)
		for s, n := range values[i] {
			at := min(s, len(p.Series)-1)
			h := float64(plotHeight) * float64(n) / float64(most)
			y -= h
			if n > 0 {
				b.Parts = append(b.Parts, barPart{at, n, y, h})
			}
		}
		p.Bars = append(p.Bars, b)
	}
	return p
}

func sum(all []int) (n int) {
	for _, one := range all {
		n += one
	}
	return n
}

// perDay draws what counts hold by day and series, for the last days until now.
func perDay(title string, now time.Time, days int, series []string, counts map[time.Time]map[string]int) plot {
	var labels []string
	var values [][]int
	today := now.UTC().Truncate(24 * time.Hour)
	for i := range days {
		day := today.AddDate(0, 0, i-days+1)
		labels = append(labels, day.Format("2 Jan"))
		row := make([]int, len(series))
		for s, name := range series {
			row[s] = counts[day][name]
		}
		values = append(values, row)
	}
	return newPlot(title, labels, series, values)
}

// percentile returns the value below which a share of all lies; 0 if there are none.
func percentile(all []time.Duration, share float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return all[min(len(all)-1, int(share*float64(len(all))))]
}

// Empty reports whether there is nothing to draw.
func (p plot) Empty() bool {
	return !slices.ContainsFunc(p.Bars, func(b bar) bool { return b.Total > 0 })
}

// Total returns the sum of all bars.
func (p plot) Total() (n int) {
	for _, b := range p.Bars {
		n += b.Total
	}
	return n
}

// Describe is the text for who can't see the plot.
func (p plot) Describe() string {
	total := p.Total()
	most := -1
	when := ""
	for _, b := range p.Bars {
		if b.Total > most {
			most = b.Total
			when = b.Label
		}
	}
	if total == 0 {
		return p.Title + ": nothing yet"
	}
	return fmt.Sprintf("%s: %s in all, at most %s (%s)", p.Title, number(total), number(most), when)
}
