import { beforeEach, describe, expect, test } from 'vitest';
import { startKotlin, type Clients } from '#clients/conformance/clients.ts';
import { MavenUnreachable } from '#clients/conformance/kotlin.ts';
import { INSTALL_MAVEN, missingMaven } from '#test/support/tools/missing-tools.ts';
import { kotlinPages } from './kotlin-pages.ts';
import { playAll } from './play-all.ts';

const { pages, files } = kotlinPages();
const missing = missingMaven();
const isCi = process.env.CI === 'true';

/** The compiler on a busy machine, and Maven's downloads on a new one. */
const BUILD_TIMEOUT_MS = 900_000;

/** Maven's repository is out of reach: nothing can be run. */
let isUnreachable = false;

async function start(): Promise<Clients> {
  if (missing.length > 0) throw new Error(`${missing.join(' and ')} not found; ${INSTALL_MAVEN}`);
  try {
    return await startKotlin(files);
  } catch (error) {
    if (!(error instanceof MavenUnreachable) || isCi) throw error;
    isUnreachable = true;
    console.log('not run: the client for Kotlin (Maven cannot reach its repository)');
    return { play: () => Promise.resolve(), stop: () => Promise.resolve() };
  }
}

describe.skipIf(missing.length > 0 && !isCi)('the client for Kotlin on the JVM', () => {
  beforeEach((context) => {
    if (isUnreachable) context.skip('Maven cannot reach its repository');
  });

  playAll('kotlin', start, BUILD_TIMEOUT_MS);

  test('the Kotlin of its pages compiles with it', () => {
    expect(pages).toEqual(['android-kotlin.md', 'firebase-callable.md', 'README.md']);
  });
});
