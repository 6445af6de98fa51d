import type { CallInput, Method, RecapOptions, RecapStore, Timings, WireEvent } from '../api.ts';
import { readTokenPayload } from '../lib/base64.ts';
import { readKept } from '../lib/saver.ts';
import { connect } from './connect.ts';
import type { Connection } from './connection.ts';
import { RecapError, offline, readError } from './error.ts';
import { createEventReader, type ServerEvent } from './events.ts';

/** Whose the store is. */
const USER_KEY = 'user';

/** An event stream whose head has come. */
export interface EventStream {
  /** 200, or 204: there is nothing to be read. */
  code: number;
  /** Its turn, such as 17; absent where it is of none. */
  seq: number | undefined;
  /** Its events up to `[DONE]`, or to an end in good order. Rejects with RecapError when it breaks. */
  read(onEvent: (event: ServerEvent) => void): Promise<{ isDone: boolean }>;
  close(): void;
}

export interface RequestInput extends CallInput {
  /** Already as text: the same bytes in every try. */
  bodyText?: string;
}

type Step = WireEvent extends infer Event
  ? Event extends WireEvent
    ? Omit<Event, 'exchange' | 'at'>
    : never
  : never;

interface Exchange {
  connection: Connection;
  tell: (step: Step) => void;
}

interface RequesterParts {
  options: RecapOptions;
  timings: Timings;
  store: RecapStore;
  closed: AbortSignal;
  onOtherUser: (error: RecapError) => void;
}

function urlOf(baseUrl: string, path: string, query: CallInput['query'] = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  const text = pairs.join('&');
  return `${baseUrl.replace(/\/$/, '')}${path}${text === '' ? '' : `?${text}`}`;
}

/** Calls of the API with the user's token; one that the service takes for expired is renewed once. All reject with RecapError. */
export function createRequester(parts: RequesterParts) {
  const { options, timings, store, closed, onOtherUser } = parts;
  let exchanges = 0;
  /** The clock of the service, before this device's, milliseconds. */
  let clockOffsetMs = 0;
  let user: string | undefined;

  /** What the app gives may never come. */
  const inTime = <Value>(given: Promise<Value>): Promise<Value> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no token came')), timings.callMs);
      void given.then(resolve, reject).finally(() => clearTimeout(timer));
    });

  /** Throws RecapError STORE_OF_OTHER_USER: nothing of one user is sent as another. */
  async function checkUser(token: string): Promise<void> {
    const asking = readTokenPayload(token)?.sub;
    if (asking === undefined || asking === user) return;
    user ??= await readKept<string>(store, USER_KEY);
    // A store that refuses costs no message.
    if (user === undefined)
      await store.set(USER_KEY, JSON.stringify(asking)).catch(() => undefined);
    user ??= asking;
    if (user === asking) return;
    const message = 'The store of this client belongs to another user. Give each user a store.';
    const error = new RecapError({ code: 401, reason: 'STORE_OF_OTHER_USER', message });
    onOtherUser(error);
    throw error;
  }

  async function headersOf(isForced: boolean, accept: string, hasBody: boolean) {
    const token = await inTime(options.getIdToken(isForced));
    await checkUser(token);
    return {
      accept,
      authorization: `Bearer ${token}`,
      ...(options.getAppCheckToken && {
        'x-firebase-appcheck': await inTime(options.getAppCheckToken()),
      }),
      ...(hasBody && { 'content-type': 'application/json' }),
    };
  }

  function setClock(connection: Connection): void {
    const date = Date.parse(connection.header('date') ?? '');
    if (Number.isFinite(date)) clockOffsetMs = date - Date.now();
  }

  async function attempt(
    method: Method,
    path: string,
    given: RequestInput & { accept: string; silenceMs: number; isForced: boolean },
  ): Promise<Exchange> {
    const { query, body, accept, silenceMs, isForced } = given;
    const bodyText = given.bodyText ?? (body === undefined ? undefined : JSON.stringify(body));
    const exchange = (exchanges += 1);
    const tell = (step: Step): void => options.onWire?.({ exchange, at: Date.now(), ...step });
    const url = urlOf(options.baseUrl, path, query);
    try {
      const headers = await headersOf(isForced, accept, bodyText !== undefined);
      tell({ kind: 'request', method, url, body: bodyText });
      const request = { method, url, headers, body: bodyText };
      const unwanted = given.signal ? [closed, given.signal] : [closed];
      const connection = await connect(request, { fetch: options.fetch, silenceMs, unwanted });
      tell({ kind: 'response', code: connection.code });
      setClock(connection);
      return { connection, tell };
    } catch (error) {
      tell({ kind: 'end', problem: String(error) });
      throw offline(error);
    }
  }

  async function send(
    method: Method,
    path: string,
    given: RequestInput & { accept: string; silenceMs: number },
  ): Promise<Exchange> {
    const first = await attempt(method, path, { ...given, isForced: false });
    const isExpired = first.connection.code === 401;
    if (isExpired) first.connection.close();
    const sent = isExpired ? await attempt(method, path, { ...given, isForced: true }) : first;
    const { connection, tell } = sent;
    if (connection.code < 400) return sent;
    const text = await connection.text();
    tell({ kind: 'end' });
    throw readError(connection.code, text, connection.header);
  }

  return {
    /** The JSON of the reply; null for one without a body. */
    call: async <Reply>(method: Method, path: string, given: RequestInput = {}): Promise<Reply> => {
      const accept = 'application/json';
      const sent = await send(method, path, { ...given, accept, silenceMs: timings.callMs });
      const text = await sent.connection.text();
      sent.tell({ kind: 'end' });
      return JSON.parse(text === '' ? 'null' : text);
    },

    stream: async (
      method: Method,
      path: string,
      given: RequestInput = {},
    ): Promise<EventStream> => {
      const accept = 'text/event-stream';
      const { silenceMs } = timings;
      const { connection, tell } = await send(method, path, { ...given, accept, silenceMs });
      const turnId = connection.header('x-turn-id');
      let isDone = false;
      let whenDone = (): void => undefined;
      return {
        code: connection.code,
        seq: turnId === null ? undefined : Number(turnId.slice('t_'.length)),
        read: async (onEvent) => {
          const done = new Promise<void>((resolve) => {
            whenDone = resolve;
          });
          const take = createEventReader((event) => {
            if (event.data === '[DONE]') {
              isDone = true;
              return whenDone();
            }
            tell({ kind: 'event', ...event });
            onEvent(event);
          });
          try {
            // What holds the connection open behind the end is not waited for.
            await Promise.race([connection.read(take), done]);
          } catch (error) {
            tell({ kind: 'end', problem: String(error) });
            throw error;
          }
          tell({ kind: 'end' });
          return { isDone };
        },
        // One that is done ends by itself.
        close: () => {
          if (!isDone) connection.close();
        },
      };
    },

    /** Sends a file to the address that the service gave. */
    put: async (
      file: Blob,
      target: { method: string; url: string; headers: Readonly<Record<string, string>> },
      onSent: (share: number) => void,
    ): Promise<void> => {
      const { silenceMs } = timings;
      const sent = { fetch: options.fetch, silenceMs: 10 * silenceMs, unwanted: [closed], onSent };
      const connection = await connect({ ...target, body: file }, sent);
      const text = await connection.text();
      // 412: an earlier try has brought the file.
      if (connection.code >= 400 && connection.code !== 412)
        throw readError(connection.code, text, connection.header);
    },

    nowMs: (): number => Date.now() + clockOffsetMs,
  };
}

export type Requester = ReturnType<typeof createRequester>;
