/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <unistd.h>

#define CHUNK_SIZE (256u * 1024u)
#define HASH_SIZE  32

struct sha256 {
	EVP_MD_CTX *context;
};

struct sha256 *sha256_new(void)
{
	struct sha256 *hash = calloc(1, sizeof(*hash));

	if (!hash)
		return NULL;
	hash->context = EVP_MD_CTX_new();
	if (hash->context && EVP_DigestInit_ex(hash->context, EVP_sha256(), NULL))
		return hash;
	sha256_free(hash);
	return NULL;
}

void sha256_free(struct sha256 *hash)
{
	if (!hash)
		return;
	EVP_MD_CTX_free(hash->context);
	free(hash);
}

void sha256_update(struct sha256 *hash, const void *data, size_t size)
{
	EVP_DigestUpdate(hash->context, data, size);
}

void sha256_finish(struct sha256 *hash, char hex[SHA256_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[EVP_MAX_MD_SIZE] = {0};

	EVP_DigestFinal_ex(hash->context, bytes, NULL);
	EVP_DigestInit_ex(hash->context, EVP_sha256(), NULL);
	for (size_t i = 0; i < HASH_SIZE; i++) {
		hex[2 * i] = digits[bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	hex[2 * HASH_SIZE] = '\0';
}

int sha256_buffer(const void *data, size_t size, char hex[SHA256_HEX_SIZE])
{
	struct sha256 *hash = sha256_new();

	hex[0] = '\0';
	if (!hash)
		return -ENOMEM;
	sha256_update(hash, data, size);
	sha256_finish(hash, hex);
	sha256_free(hash);
	return 0;
}

int sha256_file(const char *path, char hex[SHA256_HEX_SIZE], uint64_t *size)
{
	struct sha256 *hash = NULL;
	char *chunk = NULL;
	uint64_t total = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret = 0;

	hex[0] = '\0';
	if (size)
		*size = 0;
	if (fd < 0)
		return -errno;
	hash = sha256_new();
	chunk = malloc(CHUNK_SIZE);
	if (!hash || !chunk) {
		ret = -ENOMEM;
		goto out;
	}
	while ((got = read(fd, chunk, CHUNK_SIZE)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			ret = -errno;
			goto out;
		}
		sha256_update(hash, chunk, (size_t)got);
		total += (uint64_t)got;
	}
	sha256_finish(hash, hex);
	if (size)
		*size = total;
out:
	free(chunk);
	sha256_free(hash);
	close(fd);
	return ret;
}
