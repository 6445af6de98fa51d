import { randomUUID } from 'node:crypto';
import { httpsCallableFromURL } from '@firebase/functions';
import { firebaseFunctions } from '#test/support/wire/firebase-functions.ts';
import { createWithTool, textIn } from './server-state.ts';
import * as talk from './talk.ts';
import { never, type Place, type SayOptions, type Talk } from './talk.ts';
import { testLibraries } from './test-libraries.ts';

interface Chunk {
  type: string;
  delta?: string;
}

interface Result {
  turn: { openCalls?: { callId: string }[] } | null;
  message: { parts: { type: string; text?: string }[] };
}

function callable({ url, project, token }: Place, conversationId: string): Talk {
  const call = httpsCallableFromURL<unknown, Result, Chunk>(
    firebaseFunctions(project, token).functions,
    `${url}/callable/chat`,
  );
  const saying = (text: string, more: object[] = []) => ({
    conversationId,
    message: { id: randomUUID(), parts: [{ type: 'text', text }, ...more] },
  });
  const answer = async (body: object): Promise<string> =>
    textIn((await call(body)).data.message.parts);

  /** A streamed call, read to its end. */
  async function streamed(body: object, { onText, signal }: SayOptions = {}): Promise<string> {
    const { stream, data } = await call.stream(body, { ...(signal && { signal }) });
    data.catch(() => undefined);
    let text = '';
    for await (const { type, delta = '' } of stream) {
      if (type !== 'text-delta') continue;
      text += delta;
      onText?.(delta);
    }
    await data;
    return text;
  }

  /** Says a text that is answered by a call, and gives its result. */
  async function answerCall(text: string, result: object): Promise<string> {
    const { data } = await call(saying(text));
    const { callId = '' } = data.turn?.openCalls?.[0] ?? {};
    return answer({ conversationId, toolResults: [{ callId, ...result }] });
  }

  return {
    say: (text, options = {}) => {
      const { png, onText } = options;
      const file = { type: 'file', mediaType: 'image/png', data: png };
      const body = saying(text, png === undefined ? [] : [file]);
      return onText ? streamed(body, options) : answer(body);
    },
    askForPet: async (text) =>
      JSON.parse(await answer({ ...saying(text), responseSchema: talk.petSchema })),
    callTool: async (locate) => {
      await createWithTool({ url, project, token }, conversationId);
      return answerCall(talk.LOCATE, { output: locate() });
    },
    approve: () => answerCall(talk.PAY, { approved: true }),
    edit: never,
    regenerate: never,
    resume: () => streamed({ conversationId, action: 'resume' }),
  };
}

testLibraries(['@firebase/functions'], () =>
  Promise.resolve({
    '@firebase/functions': {
      open: callable,
      lacks: {
        reload: 'a callable reads no stored messages; our own API lists them',
        edit: 'a callable sends new messages alone; our own API edits',
        regenerate: 'a callable sends new messages alone; our own API regenerates',
      },
    },
  }),
);
