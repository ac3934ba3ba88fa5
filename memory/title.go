package memory

import "slices"

// Tag is a word by which a forum sorts its posts.
type Tag struct {
	ID   TagID  // 0: it comes from a file that has only names
	Name string // empty on a post, if the tag has an id: its forum has the name
}

// Title is what a thread or a forum post is about, in the words of whoever made it.
type Title struct {
	Name string
	Tags []string
}

// TitleOf returns the title of a thread whose parent is given, or nil; zero for other channels and for a thread
// without a name.
func TitleOf(c, parent *Channel) Title {
	if c == nil || !c.Kind.IsThread() || c.Name == "" {
		return Title{}
	}
	return Title{Name: c.Name, Tags: tagsOf(c, parent)}
}

// tagsOf returns the names of a post's tags, as its forum has them now.
func tagsOf(post, forum *Channel) []string {
	var names []string
	for _, tag := range post.Tags {
		name := tag.Name
		if tag.ID != 0 {
			name = tagName(forum, tag.ID)
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

func tagName(forum *Channel, id TagID) string {
	if forum == nil {
		return ""
	}
	i := slices.IndexFunc(forum.Tags, func(t Tag) bool { return t.ID == id })
	if i < 0 {
		return ""
	}
	return forum.Tags[i].Name
}

// PlaceName names c, whose parent is given, or nil: "help", and for a thread "help › VPN does not connect". It is empty
// if c's name is unknown.
func PlaceName(c, parent *Channel) string {
	switch {
	case c == nil:
		return ""
	case !c.Kind.IsThread() || c.Name == "" || parent == nil || parent.Name == "":
		return c.Name
	}
	return parent.Name + " › " + c.Name
}
