package envelope

// beans is the content of ShapeRecords: many small elements.
type beans listOf[Bean, *Bean]

var beansLayout = newLayout("a list of records", false, many("record")) //nolint:gochecknoglobals // A table that is never changed.

func (l *beans) layout() *layout { return beansLayout }

func (l *beans) part(int) any { return (*listOf[Bean, *Bean])(l) }

func (l *beans) reset(bool) { (*listOf[Bean, *Bean])(l).empty() }

func (l *beans) isNil() bool { return false }

// Records makes the request with a list of beans, some 24 bytes of content in six small
// elements each, whose envelope is size bytes long. The same seed gives the same message. A
// size too small for one record is an error.
func Records(size int, seed uint64) (Message, error) {
	g := newGenerator(seed)
	m := Message{Shape: ShapeRecords}
	left := size - len(appendMessage(nil, &m, V11))
	var one []byte
	for {
		bean := g.bean(int32(firstID + len(m.Records))) //nolint:gosec // There are far fewer than an int32 holds.
		one = appendRecord(one[:0], &beansLayout.parts[0], &bean)
		if len(one) > left {
			break
		}
		left -= len(one)
		m.Records = append(m.Records, bean)
	}
	if len(m.Records) == 0 {
		return Message{}, tooSmall(size, size-left+len(one))
	}
	last := &m.Records[len(m.Records)-1]
	last.City.Value += g.tail(left)
	return m, nil
}
