import { describe, expect, test } from 'vitest';
import { startClients, type Clients } from './launchers/clients.ts';
import { checkDart } from './launchers/dart.ts';
import { dartPath, INSTALL_DART } from '#test/support/tools/missing-tools.ts';
import { showCutAnswer } from './service-chat.ts';
import { dartPages } from './dart-pages.ts';
import { playShare } from './play-share.ts';

const isMissing = dartPath() === undefined;
const isCi = process.env.CI === 'true';

/** The compiler, and the analysis, on a busy machine. */
const BUILD_TIMEOUT_MS = 300_000;

let clients: Clients | undefined;

async function start(): Promise<Clients> {
  if (isMissing) throw new Error(`dart not found; ${INSTALL_DART}`);
  clients = await startClients('dart');
  return clients;
}

describe.skipIf(isMissing && !isCi)('the client for Dart', () => {
  playShare('dart', start, BUILD_TIMEOUT_MS);

  test('it goes on with an answer of the service itself whose connection was cut', async () => {
    await expect(clients?.use(showCutAnswer)).resolves.toBeUndefined();
  });

  test(
    'the analysis finds nothing in it and in the Dart of its pages, and it is formatted',
    async () => {
      const { pages, files } = dartPages();
      expect(pages).toEqual(['flutter.md', 'README.md']);
      await expect(checkDart(files)).resolves.toBeUndefined();
    },
    BUILD_TIMEOUT_MS,
  );
});
