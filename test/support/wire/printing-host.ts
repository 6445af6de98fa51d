import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { chooseFreePort } from '#infra/local/processes/open-server.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { eventually } from '../eventually.ts';
import { idTokenClaims, startTokenKeys, type TokenKeys } from '../token-keys.ts';
import { startEchoingModel, type EchoingModel } from './echoing-model.ts';

const main = fileURLToPath(new URL('../../../infra/local/embedded/main.ts', import.meta.url));

/** Chat and worker over one store in a process of their own, with the real logger and adapter of the model. */
export interface PrintingHost {
  chatUrl: string;
  compactionUrl: string;
  model: EchoingModel;
  keys: TokenKeys;
  /** A good token of a user. */
  tokenOf(uid: string): Promise<string>;
  /** All that the process has written to its two outputs. */
  output(): string;
  /** The lines of its log that tell of an event. */
  linesOf(event: string): string[];
  /** Ends the process; its output is whole then. */
  stop(): Promise<void>;
}

const isThere = async (url: string): Promise<true | undefined> => {
  try {
    return (await fetch(`${url}/v1/health`)).ok || undefined;
  } catch {
    return undefined;
  }
};

/** Tokens are signed, as in production. */
const environmentOf = (model: EchoingModel, keys: TokenKeys) =>
  stackEnvironment({
    shell: process.env,
    model: { kind: 'stand-in' },
    fakeGeminiUrl: model.url,
    settings: {
      FIREBASE_AUTH_EMULATOR_HOST: undefined,
      ID_TOKEN_KEYS_URL: keys.url,
      TITLES: 'on',
    },
  });

/** `preloaded`: JavaScript that the process runs before anything else. */
export async function startPrintingHost(
  options: { preloaded?: string } = {},
): Promise<PrintingHost> {
  const { preloaded = '' } = options;
  const [model, keys] = await Promise.all([startEchoingModel(), startTokenKeys()]);
  const reserved = new Set<number>();
  const chatPort = await chooseFreePort(0, reserved);
  const compactionPort = await chooseFreePort(0, reserved);
  const child = spawn(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(preloaded)}`,
      main,
      `--chat-port=${chatPort}`,
      `--compaction-port=${compactionPort}`,
      `--push=${JSON.stringify({ minBackoffSeconds: 1, maxBackoffSeconds: 1 })}`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: environmentOf(model, keys) },
  );
  const closed = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      output += piece;
    });
  const chatUrl = `http://127.0.0.1:${chatPort}`;
  await eventually('the host', () => isThere(chatUrl));
  return {
    chatUrl,
    compactionUrl: `http://127.0.0.1:${compactionPort}`,
    model,
    keys,
    tokenOf: (uid) => keys.sign(idTokenClaims(localProjectId, uid)),
    output: () => output,
    linesOf: (event) =>
      output.split('\n').filter((line) => line.includes(`"event":${JSON.stringify(event)}`)),
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
      await Promise.all([model.close(), keys.close()]);
    },
  };
}
