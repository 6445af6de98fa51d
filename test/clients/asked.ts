import { randomUUID } from 'node:crypto';
import type { Place, SayOptions, Talk } from './talk.ts';

interface Message {
  role: 'user' | 'assistant';
  content: string;
}

/** What libraries of OpenAI's protocols are asked, with the history that the app keeps. */
export interface Question extends SayOptions {
  conversationId: string;
  /** Oldest first; the last one is of the user. */
  messages: readonly Message[];
  /** Another one for each question, and the same for a retry of the library. */
  key: string;
}

/** A library that is given a conversation and asked; each resolves to the text of the answer. */
export interface Asker extends Pick<Talk, 'reload' | 'approve'> {
  ask: (question: Question) => Promise<string>;
  askForPet: (question: Question) => Promise<unknown>;
  callTool: (conversationId: string, locate: () => { city: string }) => Promise<string>;
}

/** A conversation of which the app keeps the messages and sends them all, as OpenAI's documentation has it. */
export function talkByAsking(
  asker: (place: Place, conversationId: string) => Asker,
  place: Place,
  conversationId: string,
): Talk {
  const { ask, askForPet, callTool, ...more } = asker(place, conversationId);
  let messages: Message[] = [];
  const question = (options: SayOptions = {}): Question => {
    return { ...options, conversationId, messages, key: randomUUID() };
  };
  const answered = async (options?: SayOptions) => {
    const content = await ask(question(options));
    messages = [...messages, { role: 'assistant', content }];
    return content;
  };
  return {
    ...more,
    say: (content, options) => {
      messages = [...messages, { role: 'user', content }];
      return answered(options);
    },
    edit: (content) => {
      messages = [...messages.slice(0, -2), { role: 'user', content }];
      return answered();
    },
    regenerate: () => {
      messages = messages.slice(0, -1);
      return answered();
    },
    askForPet: (content) => {
      messages = [...messages, { role: 'user', content }];
      return askForPet(question());
    },
    callTool: (locate) => callTool(conversationId, locate),
  };
}

/** Sentences that several libraries share. */
export const noReload = 'the library reads no stored messages; our own API lists them';
export const noEdit = 'with a conversation the app sends what is new alone; our own API edits';
