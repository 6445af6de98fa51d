import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/** Set by `test/run.ts` when it found no emulators: their tests are left out, not skipped. */
// oxlint-disable-next-line node/no-process-env -- the only way that a parent can tell it
const withoutEmulators = process.env.RECAP_TEST_WITHOUT_EMULATORS === 'true';
const unitTests = 'test/unit/**/*.test.ts';
const emulatorTests = [
  'test/**/*.firestore.test.ts',
  'test/**/*.pubsub.test.ts',
  'test/emulator/**',
];

export default defineConfig({
  test: {
    // Google's clients look for a metadata server otherwise, 5 s on the first call.
    env: { METADATA_SERVER_DETECTION: 'none' },
    // Tests wait more than they compute: two files at a time on two cores, where the default is one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Concurrent tests wait for back-offs; they do not compute.
    maxConcurrency: 25,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [unitTests],
          // Decisions keep nothing between calls: their files share a process, where others start one each.
          // A third of the processor time of these files was such starts and imports (2026-11-22).
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...configDefaults.exclude,
            unitTests,
            ...(withoutEmulators ? emulatorTests : []),
          ],
        },
      },
    ],
  },
});
