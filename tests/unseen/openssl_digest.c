/* SPDX-License-Identifier: GPL-2.0-or-later
 * needs: -lcrypto
 *
 * The context of a digest isn't freed if the body is empty; numbers made for
 * tokens are, and so is the memory BIO of each certificate.
 */
#include "server.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>

static unsigned int digest_body(const char *body)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int length = 0;
	EVP_MD_CTX *context = EVP_MD_CTX_new();

	EVP_DigestInit_ex(context, EVP_sha256(), NULL);
	if (!*body)
		return 0;
	EVP_DigestUpdate(context, body, strlen(body));
	EVP_DigestFinal_ex(context, digest, &length);
	EVP_MD_CTX_free(context);
	return length;
}

static void make_token(void)
{
	BIGNUM *n = BN_new();

	BN_set_word(n, pick(1000000));
	BN_free(n);
}

static void read_certificate(void)
{
	BIO *bio = BIO_new_mem_buf("certificate", -1);

	use(bio);
	BIO_free(bio);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(80)) {
		digest_body(pick(4) ? "body" : "");
		make_token();
		read_certificate();
	}
	return 0;
}
