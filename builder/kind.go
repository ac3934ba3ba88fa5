package builder

const (
	kindSession kind = iota
	kindParticipants
	kindHistory
	kindEarlier
	kindLore
	kindFiles
	sectionKinds
)

// kind is a section that competes for the budget. Kinds of equal priority are served in this order.
type kind int

// isRecalled reports whether a section stands under the heading of recalled data.
func (k kind) isRecalled() bool { return k != kindSession && k != kindFiles }

var sectionTypes = [sectionKinds]SectionType{
	SectionSession, SectionParticipants, SectionHistory, SectionPreviousContext, SectionLore, SectionFiles,
}
