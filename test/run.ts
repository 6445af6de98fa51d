import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmulators, type Emulators } from '../infra/local/emulators.ts';
import {
  INSTALL_BROWSER,
  INSTALL_DART,
  INSTALL_MAVEN,
  INSTALL_SWIFT,
  INSTALL_TERRAFORM,
  dartPath,
  missingBrowser,
  missingMaven,
  missingTerraform,
  swiftTools,
} from './support/tools/missing-tools.ts';

const help = `Usage: npm test [-- ARGUMENTS OF VITEST]

Starts the Firestore and Pub/Sub emulators and runs the tests: all of them, or those in the files and folders named.

  test/unit -t 'a part of a title'   for example
  --help                             this text; vitest's own: npx vitest --help

SEARCH_SHARE=1 tries all cases of long searches, of which a tenth is tried otherwise. What needs a tool that is missing is
left out and named; with CI=true missing emulators are a failure.

Exit code: that of vitest.`;

/**
 * Where Node keeps what it has compiled, for vitest's workers and for what tests start as processes of
 * their own: with it both functions load in 0.8 s of processor time, without it in 2.1 s (2026-11-22).
 */
const compileCache = fileURLToPath(new URL('../node_modules/.cache/node-compile', import.meta.url));

/**
 * What `npm test` runs: the emulators once, then vitest with the arguments given, and at the end which
 * backends the tests have run on. The exit status is that of vitest. Without emulators their tests are
 * left out and named; with CI=true that is a failure.
 */
async function main(): Promise<number> {
  const emulators = await startEmulators({ log: console.log });
  if ('missing' in emulators) {
    console.error(emulators.missing);
    if (process.env.CI === 'true') return 1;
    const status = await runVitest({ RECAP_TEST_WITHOUT_EMULATORS: 'true' });
    printBackends('memory');
    console.log('not run: Firestore emulator, Pub/Sub emulator, both functions on the emulators');
    console.log(emulators.missing);
    return status;
  }
  try {
    const status = await runVitest(environmentOf(emulators));
    const { source } = emulators;
    printBackends(`memory, Firestore emulator (${source}), Pub/Sub emulator (${source})`);
    return status;
  } finally {
    await emulators.stop();
  }
}

function printBackends(backends: string): void {
  const hasTerraform = missingTerraform().length === 0;
  const hasBrowser = missingBrowser().length === 0;
  const hasMaven = missingMaven().length === 0;
  const hasDart = dartPath() !== undefined;
  const hasSwift = swiftTools() !== undefined;
  const tools = [
    ...(hasTerraform ? ['terraform'] : []),
    ...(hasBrowser ? ['browser'] : []),
    ...(hasMaven ? ['Kotlin on the JVM'] : []),
    ...(hasDart ? ['Dart'] : []),
    ...(hasSwift ? ['Swift'] : []),
  ];
  console.log(`backends: ${[backends, ...tools].join(', ')}`);
  if (!hasBrowser) console.log(`not run: the page in a browser (${INSTALL_BROWSER})`);
  if (!hasMaven) console.log(`not run: the client for Kotlin (${INSTALL_MAVEN})`);
  if (!hasDart) console.log(`not run: the client for Dart (${INSTALL_DART})`);
  if (!hasSwift) console.log(`not run: the client for Swift (${INSTALL_SWIFT})`);
  if (!hasTerraform) console.log(`not run: terraform (${INSTALL_TERRAFORM})`);
}

function environmentOf(emulators: Emulators): Record<string, string> {
  return {
    FIRESTORE_EMULATOR_HOST: emulators.firestoreHost,
    PUBSUB_EMULATOR_HOST: emulators.pubsubHost,
    GOOGLE_CLOUD_PROJECT: 'demo-recap',
    METADATA_SERVER_DETECTION: 'none',
  };
}

async function runVitest(environment: Record<string, string>): Promise<number> {
  const packageFile = createRequire(import.meta.url).resolve('vitest/package.json');
  const command = join(dirname(packageFile), 'vitest.mjs');
  const child = spawn(process.execPath, [command, 'run', ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env, ...environment },
  });
  // Ctrl-C goes to vitest as well; we wait for it, then stop the emulators.
  const leaveToVitest = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  process.on('SIGINT', leaveToVitest).on('SIGTERM', leaveToVitest);
  const exit: unknown[] = await once(child, 'exit');
  process.off('SIGINT', leaveToVitest).off('SIGTERM', leaveToVitest);
  return typeof exit[0] === 'number' ? exit[0] : 1;
}

if (process.argv.includes('--help')) console.log(help);
else process.exitCode = await main();
