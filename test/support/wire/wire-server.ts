import { contentText } from '#shared/models/content.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';
import { steeredStreamer, type SteeredCall } from '#test/fakes/steered-streamer.ts';
import {
  startChatServer,
  type ChatServer,
  type ChatServerOptions,
} from '#test/support/chat/chat-server.ts';
import { withoutTold } from '#test/support/tools/tool-world.ts';
import { eventually } from '../eventually.ts';
import { idTokenClaims } from '../token-keys.ts';

const usage: ModelUsage = {
  promptTokens: 100,
  cachedTokens: 0,
  outputTokens: 10,
  thoughtsTokens: 0,
};

export interface WireServer extends ChatServer {
  /** All calls of the model. */
  calls: readonly SteeredCall[];
  /** The calls of the model in which the user says `text` last. */
  callsOf: (text: string) => SteeredCall[];
  /** Call `n` (from 0) of them, once it has come. */
  callOf: (text: string, n?: number) => Promise<SteeredCall>;
  /** Lets the model give a whole answer to call `n` about `text`. */
  answer: (text: string, said: string, n?: number) => Promise<void>;
  authorization: (uid?: string) => Promise<string>;
}

/** The chat function on a free port, with a model that a test steers by what the user says. */
export async function startWireServer(options: ChatServerOptions = {}): Promise<WireServer> {
  const { model, calls } = steeredStreamer();
  const server = await startChatServer({ ...options, overrides: { model, ...options.overrides } });
  const callsOf = (text: string) =>
    calls.filter(({ request }) => {
      const last = request.contents.at(-1);
      return last !== undefined && contentText(withoutTold(last)) === text;
    });
  const callOf = (text: string, n = 0) =>
    eventually(`model call ${n} about ${text}`, () => Promise.resolve(callsOf(text)[n]));
  return {
    ...server,
    calls,
    callsOf,
    callOf,
    answer: async (text, said, n) => {
      const call = await callOf(text, n);
      call.say(said);
      call.end(usage);
    },
    authorization: async (uid = 'alice') =>
      `Bearer ${await server.keys.sign(idTokenClaims(server.project, uid))}`,
  };
}
