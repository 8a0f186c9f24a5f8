// Command release makes a release of all public modules of this repository. Run it by .ci/release in the root of the
// repository:
//
//	.ci/release -dry-run v0.1.0     # checks everything, and changes nothing
//	.ci/release v0.1.0              # makes the commit and the tags, and prints what to push
//	.ci/release -pack dist v0.1.0   # packs the modules of a version that has its tags
//
// A module is public if it is neither below internal nor below examples. All of them get the same version.
//
// The command checks the repository, and does the whole release in a clone first:
//
//  1. The tree is clean, the tag is new, and the tests pass (.ci/run, unless -without-tests is given).
//  2. The version fits the changes since the last one, by the lists of exported names in internal/proof/api/testdata.
//     If the lists have changed, it is not a patch version. If a name is gone, and there has been a version 1, it is a
//     major version.
//  3. CHANGELOG.md has a section of the version.
//  4. A commit gives the section a date, and makes each module require this version of the others. The replace lines
//     stay: they hold for work in this repository, and users of a module do not see them.
//  5. Annotated tags: that of the root, then one for each nested module, with its folder as the prefix.
//  6. The modules are packed as a module proxy packs them. The files of each are those of the commit, and it has a
//     licence.
//  7. Programs of users are built from an empty folder, vetted and run, with nothing of this repository but the packed
//     modules: see testdata.
//
// Then, unless it is a dry run, it makes the same commit and tags in the repository.
package main
