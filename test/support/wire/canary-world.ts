import { randomBytes, randomUUID } from 'node:crypto';
import { startPrintingHost, type PrintingHost } from './printing-host.ts';

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
  call: (path: string, request?: CallRequest) => Promise<{ status: number; text: string }>;
}

interface CallRequest {
  method?: string;
  /** Sent as JSON; a text is sent as it is. */
  body?: unknown;
  token?: string;
  headers?: Record<string, string>;
}

/** A user of a new host; see `startPrintingHost`. */
export async function startWorld(preloaded?: string): Promise<World> {
  const host = await startPrintingHost(preloaded === undefined ? {} : { preloaded });
  const canaries = createCanaries();
  const own = canaries.add(await host.tokenOf(canaries.next()));
  return {
    host,
    canaries,
    call: async (path, { body, token = own, headers, ...rest } = {}) => {
      const method = rest.method ?? (body === undefined ? 'GET' : 'POST');
      const response = await fetch(`${host.chatUrl}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    },
  };
}

/** The status where a request has to be taken: what is refused plants nothing. */
export async function taken({ call }: World, path: string, request: CallRequest): Promise<void> {
  const { status, text } = await call(path, request);
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
