import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { INSTALL_MAVEN, missingMaven } from '#test/support/tools/missing-tools.ts';
import { describeNativeClient } from '../native-suite.ts';
import { buildKotlin, MavenUnreachable } from './build-kotlin.ts';
import { kotlinPages } from './kotlin-pages.ts';
import { startKotlin } from './kotlin-client.ts';

const { pages, files } = kotlinPages();
const missing = missingMaven();
const isSkipped = missing.length > 0 && process.env.CI !== 'true';

/** The compiler on a busy machine, and Maven's downloads on a new one. */
const BUILD_TIMEOUT_MS = 900_000;

let runtime: ReturnType<typeof startKotlin> | undefined;
/** Why nothing can be run: Maven's repository is out of reach. */
let unreachable: MavenUnreachable | undefined;

function started() {
  if (!runtime) throw new Error('the Kotlin recipe was not built');
  return runtime;
}

describe.skipIf(isSkipped)('the Kotlin recipe on the JVM', () => {
  beforeAll(async () => {
    if (missing.length > 0) throw new Error(`${missing.join(' and ')} not found; ${INSTALL_MAVEN}`);
    try {
      runtime = startKotlin(await buildKotlin(files));
    } catch (error) {
      if (!(error instanceof MavenUnreachable) || process.env.CI === 'true') throw error;
      unreachable = error;
      console.log('not run: the Kotlin recipe (Maven cannot reach its repository)');
    }
  }, BUILD_TIMEOUT_MS);
  beforeEach((context) => {
    if (unreachable) context.skip('Maven cannot reach its repository');
  });
  afterAll(() => runtime?.stop());

  test('the Kotlin recipe and the Kotlin of its pages compile', () => {
    expect(started()).toBeDefined();
    expect(pages).toEqual(['android-kotlin.md', 'firebase-callable.md']);
  });

  describeNativeClient('the Kotlin recipe', (setup) => started().open(setup));
});
