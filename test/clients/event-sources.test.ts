import { randomUUID } from 'node:crypto';
import { EventSource } from 'eventsource';
import { ReactNativeEventSource } from '#test/support/wire/react-native-sse.ts';
import { callServer, createWithTool, differ } from './server-state.ts';
import * as talk from './talk.ts';
import type { Library, Place, SayOptions, Talk } from './talk.ts';
import { testLibraries } from './test-libraries.ts';

/** What an event of the product's own stream holds, as far as trials look at it. */
interface Chunk {
  type: string;
  delta?: string;
  toolCallId?: string;
  errorText?: string;
}

interface Answer {
  text: string;
  /** Of the call that waits. */
  callId: string | undefined;
}

type OnText = SayOptions['onText'];

/** A library that reads event streams, as an app uses it on the product's own API; each reads to the end. */
interface StreamReader {
  post: (place: Place, path: string, body: object, onText?: OnText) => Promise<Answer>;
  /** Reads the answer of a turn that somebody else began. */
  follow: (place: Place, path: string, onText?: OnText) => Promise<Answer>;
}

const authorization = ({ token }: Place) => ({ authorization: `Bearer ${token}` });

interface Source {
  addEventListener(type: 'message', listener: (event: { data: string | null }) => void): void;
  close: () => void;
}

/** Reads messages until the stream says that it is done; `fail` is for errors that only the library knows. */
function readSource(source: Source, onText: OnText = () => undefined) {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const answer: Answer = { text: '', callId: undefined };
  const end = (settle: () => void) => {
    source.close();
    settle();
  };
  const finish = () => end(() => resolve(answer));
  const fail = (text: string) => end(() => reject(new Error(text)));
  source.addEventListener('message', ({ data }) => {
    if (data === '[DONE]') return finish();
    const { type, delta = '', toolCallId, errorText = '' }: Chunk = JSON.parse(data ?? '');
    if (type === 'error') return fail(errorText);
    answer.text += delta;
    answer.callId = toolCallId ?? answer.callId;
    if (type === 'text-delta') onText(delta);
  });
  return { promise, finish, fail };
}

/** react-native-sse sends bodies, too. */
function readNative(place: Place, path: string, body?: object, onText?: OnText): Promise<Answer> {
  const source = new ReactNativeEventSource(`${place.url}/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...authorization(place),
      accept: 'text/event-stream',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    pollingInterval: 0,
    timeoutBeforeConnection: 0,
  });
  const { promise, fail } = readSource(source, onText);
  source.addEventListener('error', (event) =>
    fail(event.type === 'timeout' ? 'timeout' : event.message),
  );
  return promise;
}

const reactNative: StreamReader = {
  post: readNative,
  follow: (place, path, onText) => readNative(place, path, undefined, onText),
};

function followTurn(place: Place, path: string, onText?: OnText): Promise<Answer> {
  const source = new EventSource(`${place.url}/v1${path}`, {
    fetch: (url, init) =>
      fetch(url, { ...init, headers: { ...init.headers, ...authorization(place) } }),
  });
  const { promise, finish, fail } = readSource(source, onText);
  source.addEventListener('error', ({ code, message }) => {
    // Without a code it connects again by itself; 204 is the end of a turn that has ended.
    if (code === 204) finish();
    else if (code !== undefined) fail(message ?? '');
  });
  return promise;
}

/** An EventSource only reads: what begins a turn is posted with `fetch`, and its answer is left there. */
const eventSource: StreamReader = {
  post: async (place, path, body, onText) => {
    const response = await callServer(place, path, body, 'text/event-stream');
    let begun = '';
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      begun += text;
      const failure = /"errorText":"([^"]*)"/u.exec(begun)?.[1];
      if (failure !== undefined) throw new Error(failure);
      if (/"turnId":"t_\d+"/u.test(begun)) break;
    }
    const turnId = /"turnId":"(t_\d+)"/u.exec(begun)?.[1] ?? differ('no turn was begun');
    const conversation = /^\/conversations\/[^/]+/u.exec(path)?.[0] ?? '';
    return followTurn(place, `${conversation}/turns/${turnId}/stream`, onText);
  },
  follow: followTurn,
};

function talkByStreams({ post, follow }: StreamReader, place: Place, id: string): Talk {
  const conversation = `/conversations/${id}`;
  let turns = 0;
  let messageId = '';
  const saying = (text: string, more: readonly object[] = []) => {
    turns += 1;
    messageId = randomUUID();
    return { id: messageId, parts: [{ type: 'text', text }, ...more] };
  };
  const send = (body: object, onText?: OnText) =>
    post(place, `${conversation}/messages`, body, onText);

  /** Says a text that is answered by a call, and gives its result. */
  async function answerCall(text: string, result: object): Promise<string> {
    const { callId } = await send({ message: saying(text) });
    if (callId === undefined) differ('no event names the call that waits');
    const results = [{ callId, ...result }];
    return (await post(place, `${conversation}/turns/t_1/toolResults`, { results })).text;
  }

  return {
    say: async (text, { onText, signal, png } = {}) => {
      const file = { type: 'file', mediaType: 'image/png', data: png };
      const message = saying(text, png === undefined ? [] : [file]);
      // An app stops an answer with a call; closing the connection is only the end of listening.
      signal?.addEventListener('abort', () => {
        void callServer(place, `${conversation}/turns/t_${turns}:cancel`, {});
      });
      return (await send({ message }, onText)).text;
    },
    askForPet: async (text) => {
      const body = { message: saying(text), responseSchema: talk.petSchema };
      return JSON.parse((await send(body)).text);
    },
    callTool: async (locate) => {
      await createWithTool(place, id);
      return answerCall(talk.LOCATE, { output: locate() });
    },
    approve: () => answerCall(talk.PAY, { approved: true }),
    edit: async (text) => {
      const path = `${conversation}/messages/${messageId}:edit`;
      return (await post(place, path, { message: saying(text) })).text;
    },
    regenerate: async () => {
      const path = `${conversation}/messages/m_${turns}:regenerate`;
      return (await post(place, path, {})).text;
    },
    resume: async () => (await follow(place, `${conversation}/turns/t_1/stream`)).text,
  };
}

const library = (reader: StreamReader): Library => ({
  open: (place, id) => talkByStreams(reader, place, id),
  lacks: { reload: 'the library reads streams alone; `GET …/messages` lists what is stored' },
});

testLibraries(['react-native-sse', 'eventsource'], () =>
  Promise.resolve({
    'react-native-sse': library(reactNative),
    eventsource: library(eventSource),
  }),
);
