/* SPDX-License-Identifier: BSD-3-Clause */
int name_of_other_mpi(void);
int main(void) {
    return name_of_other_mpi() == 5 ? 0 : 1;
}
