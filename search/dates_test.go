package search

import (
	"slices"
	"testing"
	"time"
)

func TestDatesIn(t *testing.T) {
	t.Parallel()
	berlin := time.FixedZone("Berlin", 2*60*60)
	summer := time.Date(2023, 7, 12, 15, 4, 5, 0, time.UTC) // a Wednesday
	newYear := time.Date(2024, 1, 1, 0, 30, 0, 0, time.UTC) // a Monday
	for _, c := range []struct {
		says string
		now  time.Time
		want []string // from, to, …
	}{
		{"what was said on 2023-05-25?", summer, []string{"2023-05-25", "2023-05-26"}},
		{"at 2023-05-25T10:00:00Z", summer, []string{"2023-05-25", "2023-05-26"}},
		{"in 2023-05", summer, []string{"2023-05-01", "2023-06-01"}},
		{"in 2023-12", summer, []string{"2023-12-01", "2024-01-01"}},
		{"on 25 May 2023", summer, []string{"2023-05-25", "2023-05-26"}},
		{"on the 25th of May, 2023", summer, []string{"2023-05-25", "2023-05-26"}},
		{"on May 25th", summer, []string{"2023-05-25", "2023-05-26"}},
		{"on May 25, 2021", summer, []string{"2021-05-25", "2021-05-26"}},
		{"Sept. 3 2022", summer, []string{"2022-09-03", "2022-09-04"}},
		{"on December 24", summer, []string{"2022-12-24", "2022-12-25"}},
		{"on 12 July", summer, []string{"2023-07-12", "2023-07-13"}},
		{"on 13 July", summer, []string{"2022-07-13", "2022-07-14"}},
		{"on 31 December", newYear, []string{"2023-12-31", "2024-01-01"}},
		{"on 29 February", summer, []string{"2020-02-29", "2020-03-01"}},
		{"in May", summer, []string{"2023-05-01", "2023-06-01"}},
		{"in May 2020", summer, []string{"2020-05-01", "2020-06-01"}},
		{"last march", summer, []string{"2023-03-01", "2023-04-01"}},
		{"the October plans", summer, []string{"2022-10-01", "2022-11-01"}},
		{"from 3 June to 5 June 2023", summer, []string{"2023-06-03", "2023-06-06"}},
		{"May I ask what Ann may do?", summer, nil},
		{"again may I ask", summer, nil},
		{"4 may be enough", summer, nil},
		{"we march on", summer, nil},
		{"What did June say to April and Jan?", summer, nil},
		{"maybe marching decently", summer, nil},

		{"today?", summer, []string{"2023-07-12", "2023-07-12 15:04"}},
		{"yesterday's plan", summer, []string{"2023-07-11", "2023-07-12"}},
		{"this week", summer, []string{"2023-07-10", "2023-07-12 15:04"}},
		{"LAST  WEEK", summer, []string{"2023-07-03", "2023-07-10"}},
		{"last weekend", summer, []string{"2023-07-08", "2023-07-10"}},
		{"last week", time.Date(2023, 7, 16, 1, 0, 0, 0, time.UTC), []string{"2023-07-03", "2023-07-10"}}, // a Sunday
		{"this month", summer, []string{"2023-07-01", "2023-07-12 15:04"}},
		{"last month", time.Date(2023, 3, 31, 0, 0, 0, 0, time.UTC), []string{"2023-02-01", "2023-03-01"}},
		{"this year", summer, []string{"2023-01-01", "2023-07-12 15:04"}},
		{"last year", summer, []string{"2022-01-01", "2023-01-01"}},
		{"yesterday", newYear, []string{"2023-12-31", "2024-01-01"}},
		{"last week", newYear, []string{"2023-12-25", "2024-01-01"}},
		{"last month", newYear, []string{"2023-12-01", "2024-01-01"}},
		{"last year", newYear, []string{"2023-01-01", "2024-01-01"}},
		{"the last weekly report", summer, nil},

		{"am 3.5. oder am 4. 6. 2022", summer, []string{"2023-05-03", "2023-05-04", "2022-06-04", "2022-06-05"}},
		{"version 1.2.3", summer, nil},
		{"what happened in 2021?", summer, []string{"2021-01-01", "2022-01-01"}},
		{"room 2021", summer, nil},
		{"in 2031", summer, nil},
		{"last summer", summer, []string{"2022-06-01", "2022-09-01"}},
		{"last winter", summer, []string{"2022-12-01", "2023-03-01"}},
		{"this summer", summer, []string{"2023-06-01", "2023-09-01"}},
		{"the summer of 2021", summer, []string{"2021-06-01", "2021-09-01"}},
		{"fall 2020", summer, []string{"2020-09-01", "2020-12-01"}},
		{"I fall asleep in the spring", summer, []string{"2023-03-01", "2023-06-01"}},
		{"on Monday", summer, []string{"2023-07-10", "2023-07-11"}},
		{"on wednesday", summer, []string{"2023-07-12", "2023-07-13"}},
		{"last Wednesday", summer, []string{"2023-07-05", "2023-07-06"}},
		{"3 days ago", summer, []string{"2023-07-09", "2023-07-10"}},
		{"a few days ago", summer, []string{"2023-07-09", "2023-07-10"}},
		{"a couple of days ago", summer, []string{"2023-07-10", "2023-07-11"}},
		{"two weeks ago", summer, []string{"2023-06-25", "2023-07-02"}},
		{"a month ago", summer, []string{"2023-05-28", "2023-06-28"}},
		{"one year ago", summer, []string{"2022-01-12", "2023-01-12"}},
		{"long ago, two dogs", summer, nil},
		{"in the last 3 weeks", summer, []string{"2023-06-21", "2023-07-12 15:04"}},
		{"the past few months", summer, []string{"2023-04-12", "2023-07-12 15:04"}},
		{"last two weeks of school and the last one", summer, []string{"2023-06-28", "2023-07-12 15:04"}},
		{"last 2 things", summer, nil},
		{"this morning", summer, []string{"2023-07-12", "2023-07-12 15:04"}},
		{"tonight", summer, []string{"2023-07-12", "2023-07-12 15:04"}},
		{"this weekend", summer, []string{"2023-07-12", "2023-07-12 15:04"}},
		{"last night", summer, []string{"2023-07-11", "2023-07-12 06:00"}},
		{"the other day", summer, []string{"2023-07-05", "2023-07-12"}},
		{"before May", summer, []string{"0001-01-01", "2023-05-01"}},
		{"until the 3rd of June", summer, []string{"0001-01-01", "2023-06-03"}},
		{"after last week", summer, []string{"2023-07-10", "2023-07-12 15:04"}},
		{"since 2022", summer, []string{"2022-01-01", "2023-07-12 15:04"}},
		{"since today", newYear, []string{"2024-01-01", "2024-01-01"}},
		{"after today", summer, []string{"2023-07-12", "2023-07-12 15:04"}},
		{"between March and February 2023", summer, []string{"2023-03-01", "2023-04-01", "2023-02-01", "2023-03-01"}},
		{"between March and October 2023", summer, []string{"2023-03-01", "2023-11-01"}},
		{"from Monday to Tuesday", summer, []string{"2023-07-10", "2023-07-12"}},
		{"May 3, June 4", summer, []string{"2023-05-03", "2023-05-04", "2023-06-04", "2023-06-05"}},
		{"the day before yesterday", summer, []string{"2023-07-10", "2023-07-11"}},
		{"two weeks before yesterday", summer, nil},
		{"in the past week", summer, []string{"2023-07-05", "2023-07-12 15:04"}},
		{"next Friday", summer, nil},
		{"until Friday", summer, nil},
		{"before Friday", summer, []string{"0001-01-01", "2023-07-07"}},
		{"a year ago today", summer, []string{"2022-01-12", "2023-01-12"}},
		{"the last day of the trip", summer, nil},
		{"v1.2. was out", summer, nil},
		{"the week before last", summer, []string{"2023-06-26", "2023-07-03"}},
		{"the last couple of weeks", summer, []string{"2023-06-28", "2023-07-12 15:04"}},
		{"two hours ago", summer, []string{"2023-07-12 12:04", "2023-07-12 14:04"}},
		{"in the fall", summer, []string{"2022-09-01", "2022-12-01"}},
		{"in spring", summer, []string{"2023-03-01", "2023-06-01"}},
		{"gestern und vorgestern", summer, []string{"2023-07-11", "2023-07-12", "2023-07-10", "2023-07-11"}},
		{"vorgestern und gestern", summer, []string{"2023-07-10", "2023-07-11", "2023-07-11", "2023-07-12"}},
		{"hier steht vogestern", summer, nil},
		{"¿qué dijo ayer?", summer, []string{"2023-07-11", "2023-07-12"}},
		{"la semaine dernière", summer, []string{"2023-07-03", "2023-07-10"}},
		{"一昨日の会議", summer, []string{"2023-07-10", "2023-07-11"}},
		{"昨天說了什麼", summer, []string{"2023-07-11", "2023-07-12"}},

		{"yesterday", newYear.In(berlin), []string{"2023-12-31", "2024-01-01"}},
		{"yesterday", time.Date(2023, 12, 31, 23, 0, 0, 0, time.UTC).In(berlin), []string{"2023-12-31", "2024-01-01"}},

		{"31 February 2023", summer, nil},
		{"on 30 February", summer, nil},
		{"31 April", summer, nil},
		{"2023-02-29", summer, nil},
		{"2023-13", summer, nil},
		{"2023-13-01", summer, nil},
		{"2023-00-10", summer, nil},
		{"2023-05-00", summer, nil},
		{"2023-05-99", summer, nil},
		{"0 May", summer, nil},
		{"12023-05-251", summer, nil},
		{"the range 2023-2024", summer, nil},
		{"call 555-1234", summer, nil},
		{"0000-01-01", summer, []string{"0000-01-01", "0000-01-02"}},
		{"9999-12-31", summer, []string{"9999-12-31", "10000-01-01"}},
		{"9999-12", summer, []string{"9999-12-01", "10000-01-01"}},
		{"", summer, nil},
	} {
		var got []string
		for _, d := range datesIn(c.says, c.now) {
			for _, at := range []time.Time{d.from, d.to} {
				layout := "2006-01-02"
				if at.Hour() != 0 {
					layout += " 15:04"
				}
				if at.Location() != c.now.Location() {
					t.Errorf("%q: %v isn't in the zone of now", c.says, at)
				}
				got = append(got, at.Format(layout))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.says, got, c.want)
		}
	}
}

func FuzzDatesIn(f *testing.F) {
	for _, s := range []string{"2023-05-25", "31 February", "in May", "May 25th, 2023", "29 Feb",
		"yesterday, last week", "9999-99-99",
		"\xff 3 may\x00", "0000-00", "١٢ May", "2023-05-25t", "99999999999999999999 May 9999"} {
		f.Add(s, int64(1689174245))
		f.Add(s, int64(-62135596800))
	}
	f.Fuzz(func(t *testing.T, s string, now int64) {
		for _, d := range datesIn(s, time.Unix(now, 0).UTC()) {
			if d.to.Before(d.from) {
				t.Errorf("%q: from %v to %v", s, d.from, d.to)
			}
		}
	})
}
