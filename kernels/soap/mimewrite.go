package soap

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net"

	"benchd/kernels/envelope"
)

// The boundary between the parts of a request, and their IDs. No line of the content begins
// with the boundary: see newContent and hardContent.
const (
	requestBoundary = "benchd-4f1c6be09d2a73e8"
	rootID          = "root@benchd"
	contentID       = "content@benchd"
)

// A form is how requests are made: their version of SOAP and their encoding.
type form struct {
	binding
	xop  bool
	root string // the content type of the root part
}

func newForm(encoding string, v envelope.Version) (form, error) {
	if encoding != encodingMTOM && encoding != encodingSwA {
		return form{}, fmt.Errorf("there is no encoding %q; allowed are %q and %q", encoding, encodingMTOM, encodingSwA)
	}
	f := form{binding: bindingOf(v), xop: encoding == encodingMTOM}
	switch {
	case f.xop:
		f.root = typeXOP + `; charset=UTF-8; type="` + f.media + `"`
	case f.version == envelope.V12:
		f.root = f.media + `; charset=UTF-8; action="` + storeAction + `"`
	default:
		f.root = f.media + "; charset=UTF-8"
	}
	return f, nil
}

// request returns the content type of the whole message (RFC 2387, section 3; XOP, section 4)
// and the value of its SOAPAction, if it has one: that of SOAP 1.2 is a parameter.
func (f form) request() (kind, action string) {
	kind = typeRelated + `; boundary="` + requestBoundary + `"; start="<` + rootID + `>"; type="`
	if f.xop {
		kind += typeXOP + `"; start-info="`
	}
	kind += f.media + `"`
	if f.version == envelope.V12 {
		return kind + `; action="` + storeAction + `"`, ""
	}
	return kind, storeAction
}

// appendOpening appends all of a message that stands before the content of its attachment.
func (f form) appendOpening(dst []byte) []byte {
	dst = appendHead(dst, "--"+requestBoundary, f.root, rootID)
	dst = appendStore(dst, f.version, contentID, f.xop)
	return appendHead(dst, "\r\n--"+requestBoundary, "application/octet-stream", contentID)
}

// closing is what stands behind it.
const closing = "\r\n--" + requestBoundary + "--\r\n"

// appendHead appends a delimiter and the head of a part.
func appendHead(dst []byte, delimiter, kind, id string) []byte {
	dst = append(append(dst, delimiter...), "\r\nContent-Type: "...)
	dst = append(append(dst, kind...), "\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <"...)
	return append(append(dst, id...), ">\r\n\r\n"...)
}

// A content is an attachment: so many bytes of a block that is repeated, so that the largest
// takes no more memory than the block.
type content struct {
	block   []byte
	receipt receipt
}

// blockSize is a prime number, so that a piece of content that is lost or moved by a whole
// number of any buffer's bytes changes the rest.
const blockSize = 32749

// contentSeed makes the content: the same in every run, so that results can be compared.
const contentSeed = 1

// newContent makes content of random bytes, which no codec can make smaller and which hold
// line ends as often as any other two bytes.
func newContent(size int) content {
	c := content{block: make([]byte, min(size, blockSize))}
	var seed [32]byte
	seed[0] = contentSeed
	rand.NewChaCha8(seed).Read(c.block)
	return c.sum(size)
}

// hardContent is what careless readers of parts get wrong: beginnings of delimiters, the
// boundary inside of lines, line ends at the end, and nothing at all.
func hardContent() []content {
	var all []content
	for _, text := range []string{
		"\r\n--" + requestBoundary[:len(requestBoundary)-1] + "\r\r\n\r\n-\r\n\n--" + requestBoundary + "--\r\n",
		"\r\n\r\n\r",
		"",
	} {
		c := content{block: []byte(text)}
		all = append(all, c.sum(len(text)))
	}
	return all
}

// sum works out the receipt for so many bytes.
func (c content) sum(size int) content {
	c.receipt = receipt{length: int64(size)}
	for left := size; left > 0; left -= len(c.block) {
		c.receipt.checksum = crc32.Update(c.receipt.checksum, crc32.IEEETable, c.block[:min(left, len(c.block))])
	}
	return c
}

// appendTo appends the pieces of the content, none of which is copied.
func (c content) appendTo(dst net.Buffers) net.Buffers {
	left := int(c.receipt.length)
	for ; left > len(c.block); left -= len(c.block) {
		dst = append(dst, c.block)
	}
	return append(dst, c.block[:left])
}
