/* SPDX-License-Identifier: BSD-3-Clause */
int app_run(int* argc, char*** argv);

int main(int argc, char** argv) {
    return app_run(&argc, &argv);
}
