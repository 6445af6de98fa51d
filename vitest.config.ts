import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Set by `test/run.ts` when it found no emulators: their tests are left out, not skipped. */
// oxlint-disable-next-line node/no-process-env -- the only way that a parent can tell it
const withoutEmulators = process.env.RECAP_TEST_WITHOUT_EMULATORS === 'true';
/** These change what belongs to the whole process (signals, registered functions), or hold processes and connections. */
const processTests = [
  'test/usecases/compaction/worker/register.test.ts',
  'test/conformance/judge.test.ts',
  'test/conformance/dart.test.ts',
  'test/conformance/kotlin.test.ts',
  'test/conformance/swift.test.ts',
  'test/conformance/typescript.test.ts',
  'test/contract/*.{firestore,pubsub}.test.ts',
  'test/contract/unreachable-services.test.ts',
  'test/emulator/**/*.test.ts',
  'test/local/**/*.test.ts',
  'test/package/**/*.test.ts',
];
/** These use the npm package, which is packed once for them. */
const packedTests = ['test/package/npm.test.ts', 'test/emulator/package.test.ts'];
const browserTests = [
  'test/browser/**/*.test.ts',
  'test/conformance/chromium.test.ts',
  'test/conformance/react.test.ts',
];
const clientTests = ['test/clients/**/*.test.ts'];
const emulatorTests = [
  'test/**/*.firestore.test.ts',
  'test/**/*.pubsub.test.ts',
  'test/emulator/**',
];

/** They take longest, most of it in compilers and processes of their own: begun last, they would run alone. */
const longTests = [
  'test/conformance/kotlin.test.ts',
  'test/package/npm.test.ts',
  'test/emulator/package.test.ts',
  'test/browser/page.test.ts',
  'test/emulator/chaos.test.ts',
  'test/terraform/deployment.test.ts',
  'test/conformance/typescript.test.ts',
  'test/emulator/genkit.test.ts',
];

class LongTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = longTests.findIndex((name) => moduleId.endsWith(name));
      return at < 0 ? longTests.length : at;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- a sequencer's own
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

const leftOut = [...configDefaults.exclude, ...(withoutEmulators ? emulatorTests : [])];

export default defineConfig({
  test: {
    // Not processes: now and then one never says that its file is done, and vitest waits for it for ever.
    pool: 'threads',
    // As the functions run: Node loads the sources and takes their types away, and nothing mocks a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Google's clients look for a metadata server otherwise, 5 s on the first call.
    env: { METADATA_SERVER_DETECTION: 'none' },
    // Tests wait, start processes and load modules as often as they compute: one file more than there are cores.
    maxWorkers: availableParallelism() + 1,
    // Concurrent tests wait for back-offs; they do not compute.
    maxConcurrency: 25,
    sequence: { sequencer: LongTestsFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts', 'lab/**/*.test.ts'],
          exclude: [...leftOut, ...processTests, ...browserTests, ...clientTests],
          // What they test keeps its state in objects that each test makes, so their files share threads.
          // One each cost half the processor time of the use cases in starts and imports (2026-11-22).
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'processes', include: processTests, exclude: [...leftOut, ...packedTests] },
      },
      {
        extends: true,
        test: {
          name: 'packed',
          include: packedTests,
          exclude: leftOut,
          globalSetup: 'test/package/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'clients',
          include: clientTests,
          exclude: leftOut,
          globalSetup: 'test/clients/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: browserTests,
          exclude: leftOut,
          // A browser beside another test on two cores draws late now and then; what needed a second try is told.
          retry: 1,
        },
      },
    ],
  },
});
