package text

import (
	"strings"
	"testing"
)

// The examples of Porter's paper, step by step.
func TestPorter(t *testing.T) {
	t.Parallel()
	for _, pair := range strings.Fields(`
		caresses:caress ponies:poni ties:ti caress:caress cats:cat feed:feed agreed:agre plastered:plaster
		bled:bled motoring:motor sing:sing conflated:conflat troubled:troubl sized:size hopping:hop tanned:tan
		falling:fall hissing:hiss fizzed:fizz failing:fail filing:file happy:happi sky:ski buy:buy relational:relat
		conditional:condit rational:ration valenci:valenc hesitanci:hesit digitizer:digit conformabli:conform
		radicalli:radic differentli:differ vileli:vile analogousli:analog vietnamization:vietnam predication:predic
		operator:oper feudalism:feudal decisiveness:decis hopefulness:hope callousness:callous formaliti:formal
		sensitiviti:sensit sensibiliti:sensibl triplicate:triplic formative:form formalize:formal electriciti:electr
		electrical:electr hopeful:hope goodness:good revival:reviv allowance:allow inference:infer airliner:airlin
		gyroscopic:gyroscop adjustable:adjust defensible:defens irritant:irrit replacement:replac adjustment:adjust
		dependent:depend adoption:adopt homologou:homolog communism:commun activate:activ angulariti:angular
		homologous:homolog effective:effect bowdlerize:bowdler probate:probat rate:rate cease:ceas controll:control
		roll:roll is:is by:by a:a toy:toy say:say opinion:opinion crying:cri syzygy:syzygi archaeology:archaeolog`) {
		word, want, _ := strings.Cut(pair, ":")
		if got := porter(word); got != want {
			t.Errorf("porter(%q) = %q, want %q", word, got, want)
		}
	}
}

func BenchmarkPorter(b *testing.B) {
	words := strings.Fields("running caroline support group powerful yesterday counseling relational agencies conditional")
	for i := 0; b.Loop(); i++ {
		porter(words[i%len(words)])
	}
}
