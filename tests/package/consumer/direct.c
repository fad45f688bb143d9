/* SPDX-License-Identifier: BSD-3-Clause */
#include <laple/laple.h>
#include <stdio.h>

int main(void) {
    return printf("%s\n", laple_version()) > 0 ? 0 : 1;
}
