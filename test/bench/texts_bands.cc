// MinHash bands of texts, for test/bench/texts: what datasketch and its like compute.
//
// Reads rows for COPY with number, kind, origin and text.  Of the three-word shingles of a text 112 minimum
// hashes are taken, in 14 bands of 8.  Writes for each band a row with its key, which differs between bands,
// and the number of the text.
#include <cctype>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

static const int BANDS = 14, ROWS = 8;

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

static std::vector<uint64_t> shingles(const std::string &text)
{
	std::vector<uint64_t> words, result;
	uint64_t word = 0;

	for (size_t i = 0; i <= text.size(); i++)
	{
		unsigned char c = i < text.size() ? text[i] : ' ';

		if (isalnum(c) || c >= 0x80)
			word = (word ^ (uint64_t) tolower(c)) * 0x100000001b3ULL + 1;
		else if (word != 0)
		{
			words.push_back(mix(word));
			word = 0;
		}
	}
	for (size_t i = 0; i + 2 < words.size(); i++)
		result.push_back(mix(words[i] + 3 * words[i + 1] + 7 * words[i + 2]));
	return result;
}

int main()
{
	std::ios::sync_with_stdio(false);
	for (std::string line; std::getline(std::cin, line);)
	{
		size_t body = line.rfind('\t');
		std::string id = line.substr(0, line.find('\t'));
		uint64_t least[BANDS * ROWS];

		for (uint64_t &value : least)
			value = UINT64_MAX;
		for (uint64_t shingle : shingles(line.substr(body + 1)))
		{
			for (int i = 0; i < BANDS * ROWS; i++)
			{
				// one multiplication and addition for each of the hashes
				uint64_t value = shingle * (2 * (uint64_t) i * 0x9e3779b97f4a7c15ULL + 1) + (uint64_t) i * 0xd1b54a32d192ed03ULL;

				if (value < least[i])
					least[i] = value;
			}
		}
		for (int band = 0; band < BANDS; band++)
		{
			uint64_t key = band + 1;

			for (int i = 0; i < ROWS; i++)
				key = mix(key ^ least[band * ROWS + i]);
			std::cout << (int64_t) key << '\t' << id << '\n';
		}
	}
}
