package packing

import "github.com/klauspost/compress/zstd"

// dictionarySize is how much text a dictionary has. Pods pack as well with a quarter of it, but a collection of a
// hundred kinds of them needs one of each.
const dictionarySize = 64 << 10

// longestEntry bounds how much of one sample a dictionary contains, so that it contains several samples.
const longestEntry = dictionarySize / 8

// betterBy bounds the packed size of the samples with a new dictionary, as a fraction of their packed size with the
// present one. Above that bound the new dictionary does not replace the present one.
const betterBy = 0.95

// learnt returns a coder with a dictionary from samples, or nil if it would not be better than the present one.
func learnt(samples [][]byte, present *coder) *coder {
	dictionary := build(samples)
	if dictionary == nil {
		return nil
	}
	better := newCoder(dictionary)
	if float64(better.total(samples)) > float64(present.total(samples))*betterBy {
		return nil
	}
	return better
}

// trial is the distance between the samples that serve to compare two coders. Their text is not in a dictionary.
const trial = 8

// total packs the samples that serve for comparisons, and returns the sum of their packed sizes.
func (c *coder) total(samples [][]byte) (n int) {
	for i := trial - 1; i < len(samples); i += trial {
		n += c.pack(samples[i], 0).Size()
	}
	return n
}

// build returns a dictionary that contains samples taken at equal intervals, or nil if none can be made of them. zstd
// finds whole sequences of members in such a dictionary. A dictionary of the substrings that repeat most often packs
// pods half as well.
func build(samples [][]byte) (dictionary []byte) {
	defer func() {
		if recover() != nil { // a few texts that are all the same, for instance, give the library nothing to count
			dictionary = nil
		}
	}()
	total := 0
	for _, s := range samples {
		total += min(len(s), longestEntry)
	}
	step := max(1, total/dictionarySize)
	history := make([]byte, 0, dictionarySize+longestEntry)
	for i := 0; i < len(samples) && len(history) < dictionarySize; i += step {
		if i%trial == trial-1 {
			continue
		}
		history = append(history, samples[i][:min(len(samples[i]), longestEntry)]...)
	}
	dictionary, err := zstd.BuildDict(zstd.BuildDictOptions{
		ID: 1, Contents: samples, History: history, Offsets: [3]int{1, 4, 8}, Level: zstd.SpeedFastest,
	})
	if err != nil {
		return nil
	}
	if _, err := zstd.InspectDictionary(dictionary); err != nil {
		return nil
	}
	return dictionary
}
