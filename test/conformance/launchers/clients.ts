import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { launchBrowser } from '#test/support/tools/launch-browser.ts';
import type { SourceFile } from './build-client.ts';
import { openLine, type Line } from '../judge/control.ts';
import { dartLauncher } from './dart.ts';
import { playScenario, type Client } from '../judge/judge.ts';
import { kotlinLauncher } from './kotlin.ts';
import { programLauncher, type Launcher } from './launcher.ts';
import type { Scenario } from '../judge/scenario.ts';
import { swiftLauncher } from './swift.ts';

/* How the client of each language is started; README.md, "Another language". */

const NAMES = [
  'typescript',
  'chromium',
  'react',
  'react-native',
  'kotlin',
  'dart',
  'swift',
] as const;
export type ClientName = (typeof NAMES)[number];
export const clientNames: readonly ClientName[] = NAMES;

const sourceOf = (path: string) =>
  fileURLToPath(new URL(`../../../clients/${path}`, import.meta.url));

/** A program of Node. */
const nodeLauncher = (program: string, args: readonly string[] = []): Launcher =>
  programLauncher(process.execPath, (control, folder) => [program, control, folder, ...args]);

/** A page of Chromium; the address of the judge stands behind its `#`. */
async function pageLauncher(program: string): Promise<Launcher> {
  const built = await build({
    entryPoints: [sourceOf(program)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
  });
  const script = built.outputFiles[0]?.text ?? '';
  const server = createServer(({ url }, response) => {
    const isScript = url === '/page.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(
      isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>',
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const browser = await launchBrowser();
  const context = await browser.newContext({ locale: 'en' });
  return {
    width: 6,
    async launch(control) {
      const page = await context.newPage();
      page.on('pageerror', (error) => void process.stderr.write(`page: ${error.message}\n`));
      await page.goto(`http://127.0.0.1:${port}/#${control}`);
      return { kill: () => page.close() };
    },
    async stop() {
      await browser.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Of those that are compiled some take `more`, such as the code of pages. */
const launchers: Readonly<Record<ClientName, (more: readonly SourceFile[]) => Promise<Launcher>>> =
  {
    typescript: async () => nodeLauncher(sourceOf('typescript/conformance/driver.ts')),
    chromium: () => pageLauncher('typescript/conformance/page.ts'),
    react: () => pageLauncher('react/conformance/page.ts'),
    'react-native': () => pageLauncher('react/conformance/native-page.ts'),
    kotlin: kotlinLauncher,
    dart: dartLauncher,
    swift: swiftLauncher,
  };

export interface Clients {
  /** Throws why the client does not hold. Several at a time. */
  play(scenario: Scenario): Promise<void>;
  /** Lends one out. */
  use(work: (client: Client) => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

export const startLauncher = (
  name: ClientName,
  more: readonly SourceFile[] = [],
): Promise<Launcher> => launchers[name](more);

export const startClients = async (
  name: ClientName,
  more?: readonly SourceFile[],
): Promise<Clients> => clientsOf(await startLauncher(name, more));

/** A program of Node, such as one that behaves badly. */
export const startProgram = async (program: string, args: readonly string[]): Promise<Clients> =>
  clientsOf(nodeLauncher(program, args));

/** Keeps each client for many scenarios: starting it costs more than most of them take. */
async function clientsOf(launcher: Launcher): Promise<Clients> {
  const lines: Line[] = [];
  const free: Client[] = [];
  const waiting: ((client: Client) => void)[] = [];
  let started = 0;

  async function start(): Promise<Client> {
    const line = await openLine();
    lines.push(line);
    let driver = await launcher.launch(line.url);
    return {
      line,
      async kill() {
        await driver.kill();
        line.drop();
        driver = await launcher.launch(line.url);
      },
    };
  }

  async function take(): Promise<Client> {
    const client = free.pop();
    if (client) return client;
    if (started < launcher.width) {
      started += 1;
      return start();
    }
    return new Promise((resolve) => void waiting.push(resolve));
  }

  function giveBack(client: Client): void {
    const next = waiting.shift();
    if (next) next(client);
    else free.push(client);
  }

  async function use(work: (client: Client) => Promise<void>): Promise<void> {
    const client = await take();
    try {
      await work(client);
    } catch (error) {
      // What it is busy with must not reach the next scenario.
      await client.kill();
      throw error;
    } finally {
      giveBack(client);
    }
  }

  return {
    use,
    play: (scenario) => use((client) => playScenario(scenario, client)),
    async stop() {
      await launcher.stop();
      for (const line of lines) line.hangUp();
    },
  };
}
