import { randomUUID } from 'node:crypto';
import { none, type Cell, type Place, type Row, type Trial } from './columns.ts';
import { hasFile, isPet } from './chat-row.ts';
import { differ, pause, same, until } from './observe.ts';
import {
  isOnlyTurn,
  isStopped,
  modelContext,
  onlyConversation,
  transcript,
} from './server-state.ts';
import * as texts from './texts.ts';

/** A message to a model as libraries of OpenAI's protocols send it, with the history that the app keeps. */
export interface Question {
  conversationId: string;
  /** Oldest first; the last one is of the user. */
  messages: readonly { role: 'user' | 'assistant'; content: string }[];
  /** Gets each piece of the answer; absent: the library is asked for the whole answer. */
  onText?: (piece: string) => void;
  signal?: AbortSignal;
  /** A `data:` URL beside the last message. */
  image?: string;
}

/** A library that is given a conversation and asked. */
export interface Asker {
  /** Resolves to the text of the answer. */
  ask: (place: Place, question: Question) => Promise<string>;
  /** Has the library run `locate`; resolves to the last text. */
  askWithTool?: (
    place: Place,
    conversationId: string,
    locate: () => { city: string },
  ) => Promise<string>;
  /** Asks for an object as `petSchema` has it. */
  askForPet?: (place: Place, conversationId: string, text: string) => Promise<unknown>;
}

const user = (content: string) => ({ role: 'user' as const, content });
const assistant = (content: string) => ({ role: 'assistant' as const, content });

const send =
  ({ ask }: Asker): Trial =>
  async ({ open: place }) => {
    const conversationId = randomUUID();
    const answer = await ask(place, { conversationId, messages: [user(texts.SAY)] });
    await isOnlyTurn(place, conversationId, { question: texts.SAY, answer });
  };

const stream =
  ({ ask }: Asker): Trial =>
  async ({ open: place }) => {
    const conversationId = randomUUID();
    const pieces: string[] = [];
    const answer = await ask(place, {
      conversationId,
      messages: [user(texts.COUNT)],
      onText: (piece) => void pieces.push(piece),
    });
    if (pieces.length < 4) differ(`the answer came in ${pieces.length} pieces`);
    await isOnlyTurn(place, conversationId, { question: texts.COUNT, answer });
  };

/** A question in the middle of its long answer. */
async function halfway({ ask }: Asker, place: Place, text: string) {
  const conversationId = randomUUID();
  const controller = new AbortController();
  let shown = '';
  let failure: unknown;
  const done = ask(place, {
    conversationId,
    messages: [user(text)],
    onText: (piece) => (shown += piece),
    signal: controller.signal,
  }).catch((error: unknown) => {
    failure = error;
    return '';
  });
  await until('the answer has begun', () => shown.includes('3') || failure !== undefined);
  if (failure !== undefined) throw failure;
  return { conversationId, controller, done };
}

/** Another client speaks in the same conversation meanwhile. */
const secondTab =
  (asker: Asker): Trial =>
  async ({ open: place }) => {
    const { conversationId, done } = await halfway(asker, place, 'Count to 20.');
    const other = await asker.ask(place, { conversationId, messages: [user(texts.SAY)] });
    const first = await done;
    same('the transcript', await transcript(place, conversationId), [
      'user: Count to 20.',
      `model: ${first}`,
      `user: ${texts.SAY}`,
      `model: ${other}`,
    ]);
  };

const stop =
  (asker: Asker): Trial =>
  async ({ open: place }) => {
    const { controller, done } = await halfway(asker, place, texts.COUNT_LONG);
    controller.abort();
    await Promise.race([done, pause(1_000)]);
    await isStopped(place, await onlyConversation(place));
  };

/** Two answered questions. */
async function answeredTwice({ ask }: Asker, place: Place) {
  const conversationId = randomUUID();
  const first = await ask(place, { conversationId, messages: [user(texts.SAY)] });
  const messages = [user(texts.SAY), assistant(first), user(texts.ASK)];
  const second = await ask(place, { conversationId, messages });
  return { conversationId, first, second };
}

/** The app changes its list of messages and sends it. */
const edit =
  (asker: Asker): Trial =>
  async ({ open: place }) => {
    const { conversationId } = await answeredTwice(asker, place);
    const answer = await asker.ask(place, { conversationId, messages: [user(texts.EDITED)] });
    await isOnlyTurn(place, conversationId, { question: texts.EDITED, answer });
  };

/** The app drops the last answer from its list and sends the rest again. */
const regenerate =
  (asker: Asker): Trial =>
  async ({ open: place }) => {
    const { conversationId, first } = await answeredTwice(asker, place);
    const messages = [user(texts.SAY), assistant(first), user(texts.ASK)];
    const answer = await asker.ask(place, { conversationId, messages });
    same('the context', await modelContext(place, conversationId), [
      `user: ${texts.SAY}`,
      `model: ${first}`,
      `user: ${texts.ASK}`,
      `model: ${answer}`,
    ]);
  };

const tools = ({ askWithTool }: Asker): Trial | Cell =>
  askWithTool === undefined
    ? none('the library has no tools')
    : async ({ open: place }) => {
        const conversationId = randomUUID();
        let runs = 0;
        const locate = () => {
          runs += 1;
          return { city: texts.CITY };
        };
        const answer = await askWithTool(place, conversationId, locate);
        if (runs !== 1) differ(`the function ran ${runs} times; the answer is ${answer}`);
        if (!answer.includes(texts.CITY)) differ(`the answer is ${JSON.stringify(answer)}`);
        const context = await modelContext(place, await onlyConversation(place));
        same('the end of the context', context.at(-1), `model: ${answer}`);
      };

/** A call of the server that the user has to allow; the protocol has no word for it. */
const approval =
  ({ ask }: Asker): Trial =>
  async ({ open: place }) => {
    const conversationId = randomUUID();
    const answer = await ask(place, { conversationId, messages: [user(texts.PAY)] });
    if (answer === '') differ('the answer is empty, and nothing says that a call waits');
    return { kind: 'says', text: answer };
  };

const structured = ({ askForPet }: Asker): Trial | Cell =>
  askForPet === undefined
    ? none('the library has no structured answers')
    : async ({ open: place }) => {
        const conversationId = randomUUID();
        const pet = await askForPet(place, conversationId, texts.SAY);
        if (!isPet(JSON.stringify(pet))) differ(`the answer is ${JSON.stringify(pet)}`);
        const lines = await transcript(place, await onlyConversation(place));
        same('the messages of the transcript', lines.length, 2);
      };

const files =
  ({ ask }: Asker): Trial =>
  async ({ open: place }) => {
    const conversationId = randomUUID();
    const messages = [user(texts.SAY)];
    await ask(place, { conversationId, messages, image: texts.PNG_URL });
    await hasFile(place, await onlyConversation(place));
  };

const refused =
  ({ ask }: Asker, which: 'spent' | 'failing'): Trial =>
  async (places) => {
    const conversationId = randomUUID();
    await ask(places[which], { conversationId, messages: [user(texts.SAY)] });
    differ('no error is thrown');
  };

/** The trials of a library that is given a conversation and asked. */
export const askerRow = (asker: Asker): Row => ({
  send: send(asker),
  stream: stream(asker),
  reload: none('the library reads no stored messages; our own API lists them'),
  'second tab': secondTab(asker),
  stop: stop(asker),
  edit: edit(asker),
  regenerate: regenerate(asker),
  tools: tools(asker),
  approval: approval(asker),
  structured: structured(asker),
  files: files(asker),
  '429': refused(asker, 'spent'),
  error: refused(asker, 'failing'),
});
