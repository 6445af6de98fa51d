import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { chooseFreePort } from '#infra/local/processes/open-server.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { fetchAs, type CallOptions } from '#test/support/chat/chat-server.ts';
import { eventually } from '#test/support/eventually.ts';
import { idTokenClaims, startTokenKeys, type TokenKeys } from '#test/support/token-keys.ts';
import type { Fault } from '#infra/fake-gemini/server/faults.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { randomBytes, randomUUID } from 'node:crypto';

type FakeGemini = Awaited<ReturnType<typeof startFakeGemini>>;

const main = fileURLToPath(new URL('../../infra/local/embedded/main.ts', import.meta.url));

/** Chat and worker over one store in a process of their own, with the real logger and adapter of the model. */
export interface PrintingHost {
  chatUrl: string;
  compactionUrl: string;
  fakeGemini: FakeGemini;
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
const environmentOf = (fakeGeminiUrl: string, keys: TokenKeys) =>
  stackEnvironment({
    shell: process.env,
    model: { kind: 'fake-gemini' },
    fakeGeminiUrl,
    settings: {
      FIREBASE_AUTH_EMULATOR_HOST: undefined,
      ID_TOKEN_KEYS_URL: keys.url,
      TITLES: 'on',
    },
  });

async function startPrintingHost(): Promise<PrintingHost> {
  const [fakeGemini, keys] = await Promise.all([startFakeGemini(), startTokenKeys()]);
  const reserved = new Set<number>();
  const chatPort = await chooseFreePort(0, reserved);
  const compactionPort = await chooseFreePort(0, reserved);
  const settings = {
    ports: { chat: chatPort, compaction: compactionPort },
    push: { minBackoffSeconds: 1, maxBackoffSeconds: 1 },
  };
  const child = spawn(process.execPath, [main, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environmentOf(fakeGemini.url, keys),
  });
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
    fakeGemini,
    keys,
    tokenOf: (uid) => keys.sign(idTokenClaims(localProjectId, uid)),
    output: () => output,
    linesOf: (event) =>
      output.split('\n').filter((line) => line.includes(`"event":${JSON.stringify(event)}`)),
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
      await Promise.all([fakeGemini.close(), keys.close()]);
    },
  };
}

/** Random words that nobody else says: wherever one turns up, something that was sent has got there. */
interface Canaries {
  /** A new one: letters and digits, so that it fits into ids, tokens and addresses. */
  next(): string;
  /** A sentence with `count` new ones. */
  text(count: number): string;
  /** Takes a text that exists already, such as a token, for one. */
  add(text: string): string;
  count(): number;
  /** Those that stand in a text, in whatever case. */
  foundIn(text: string): string[];
}

function createCanaries(): Canaries {
  const all = new Set<string>();
  const add = (text: string) => {
    all.add(text);
    return text;
  };
  const next = () => add(`cnry${randomBytes(8).toString('hex')}`);
  return {
    next,
    add,
    text: (count) =>
      `Remember that ${Array.from({ length: count }, next).join(' comes with ')} on the trip.`,
    count: () => all.size,
    foundIn: (text) => {
      const lower = text.toLowerCase();
      return [...all].filter((canary) => lower.includes(canary.toLowerCase()));
    },
  };
}

/** A user of a host, and what may not be printed. */
export interface World {
  host: PrintingHost;
  canaries: Canaries;
  call: (path: string, call?: CallOptions) => Promise<{ status: number; text: string }>;
}

/** A user of a new host; see `startPrintingHost`. */
export async function startWorld(): Promise<World> {
  const host = await startPrintingHost();
  const canaries = createCanaries();
  const own = canaries.add(await host.tokenOf(canaries.next()));
  return {
    host,
    canaries,
    call: async (path, { token = own, ...call } = {}) => {
      const response = await fetchAs(`${host.chatUrl}${path}`, call, token);
      return { status: response.status, text: await response.text() };
    },
  };
}

/** The status where a request has to be taken: what is refused plants nothing. */
export async function taken({ call }: World, path: string, sent: CallOptions): Promise<void> {
  const { status, text } = await call(path, sent);
  if (status >= 300) throw new Error(`${path} was not taken: ${text}`);
}

/** Eight canaries in two parts of one message, and enough words around them to have it folded. */
export const saying = ({ canaries }: World, id: string = randomUUID()) => ({
  id,
  parts: [
    { type: 'text', text: canaries.text(4) },
    { type: 'text', text: `${canaries.text(4)} ${'And so on and so forth. '.repeat(10)}` },
  ],
});

const statuses: [code: number, status: string][] = [
  [400, 'INVALID_ARGUMENT'],
  [404, 'NOT_FOUND'],
  [429, 'RESOURCE_EXHAUSTED'],
  [503, 'UNAVAILABLE'],
];

/** Errors of the model that quote what it was asked, as Google's do, and one of half an event; each befalls every call. */
export const modelFaults = ({ canaries }: World): Fault[] => [
  ...statuses.map(([code, status]): Fault => {
    const message = `Cannot serve ${canaries.text(4)}`;
    return { kind: 'http', code, status, message, times: 1_000 };
  }),
  { kind: 'halfEvent', times: 1_000 },
];

const settings = { thresholdTokens: 1_000 };

/** A conversation whose every field holds canaries; gives its path. */
export async function createConversation(world: World): Promise<string> {
  const { canaries } = world;
  const id = randomUUID();
  await taken(world, '/v1/conversations', {
    body: {
      id,
      title: canaries.text(4),
      metadata: { [canaries.next()]: canaries.text(4) },
      systemInstruction: canaries.text(10),
      settings,
    },
  });
  return `/v1/conversations/${id}`;
}
