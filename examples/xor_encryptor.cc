/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encrypts inputs, badly, and without giving memory back; with -DFIXED it
 * does. Both print the same sum.
 *
 *	xor-leaking [BYTES [INPUTS [MICROSECONDS]]]
 *
 * so many inputs of so many bytes each, and a pause behind each chunk.
 */
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace {

constexpr size_t chunk_size = 4096;

struct Chunk {
	Chunk *next;
	char data[chunk_size];
};

class XOREncryptor {
public:
	explicit XOREncryptor(useconds_t pause) : pause(pause) {}
	void read_in_chunks(size_t size);
	unsigned sum = 0;

private:
	void process_chunk(const char *data, size_t length);
	void read(char *data, size_t length);
	Chunk *chunks = nullptr;
	unsigned state = 1;
	useconds_t pause;
};

/* Stands for a file: numbers that always are the same. */
void XOREncryptor::read(char *data, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		state = state * 1664525 + 1013904223;
		data[i] = static_cast<char>(state >> 24);
	}
}

void XOREncryptor::process_chunk(const char *data, size_t length)
{
	Chunk *chunk = new Chunk; /* kept for ever */

	for (size_t i = 0; i < length; i++) {
		chunk->data[i] = static_cast<char>(data[i] ^ 0x5a);
		sum = sum * 31 + static_cast<unsigned char>(chunk->data[i]);
	}
	usleep(pause);
#ifdef FIXED
	delete chunk;
#else
	chunk->next = chunks;
	chunks = chunk;
#endif
}

#ifdef FIXED
void XOREncryptor::read_in_chunks(size_t size)
{
	char *buffer = new char[chunk_size];

	for (size_t done = 0; done < size; done += chunk_size) {
		size_t length = std::min(chunk_size, size - done);

		read(buffer, length);
		process_chunk(buffer, length);
	}
	delete[] buffer;
}
#else
void XOREncryptor::read_in_chunks(size_t size)
{
	char *buffer = new char[size]; /* as large as the input */

	read(buffer, size);
	for (size_t done = 0; done < size; done += chunk_size)
		process_chunk(buffer + done, std::min(chunk_size, size - done));
}
#endif

size_t number(const char *text, size_t otherwise)
{
	return text ? strtoul(text, nullptr, 0) : otherwise;
}

}

int main(int argc, char **argv)
{
	size_t size = number(argc > 1 ? argv[1] : nullptr, 1 << 20);
	size_t inputs = number(argc > 2 ? argv[2] : nullptr, 60);
	XOREncryptor encryptor(number(argc > 3 ? argv[3] : nullptr, 2000));

	while (inputs--)
		encryptor.read_in_chunks(size);
	printf("sum %08x\n", encryptor.sum);
	return 0;
}
