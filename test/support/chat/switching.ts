import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { updateConversation } from '#functions/chat/conversations/write-conversation.ts';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import type { FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { callId } from '#shared/conversation/context/tool-calls.ts';
import { waitingCalls } from '#shared/conversation/context/tool-results.ts';
import { sentPrompt, signaturesIn } from '../random-tools/prompt-checks.ts';
import { caller } from './routing.ts';
import { storedTurn } from './streaming.ts';

/** Lets another model answer from the next turn on. */
export const switchTo = (chat: ChatDependencies, conversationId: string, model: string) =>
  updateConversation(chat, { caller, conversationId, patch: { model } });

/** The app answers all calls that turn `seq` waits for; the turn as it ends. */
export async function answerAll(chat: ChatDependencies, conversationId: string, seq: number) {
  const waiting = waitingCalls(await storedTurn(chat, conversationId, seq));
  const results = waiting.map(({ index }) => ({
    callId: callId(seq, index),
    kind: 'response' as const,
    response: { at: 'home' },
  }));
  const target = { caller, conversationId, turnId: `t_${seq}`, results, locale: undefined };
  return (await (await answerCalls(chat, target)).result).turn;
}

/** The chat calls of a server in order: who was asked, and how many signatures the prompt had. */
export const signedCalls = (server: Pick<FakeGemini, 'journal' | 'requestBody'>): string[] =>
  server
    .journal()
    .filter(({ role }) => role === 'chat')
    .map(({ model, n }) => {
      const signatures = signaturesIn(sentPrompt(server.requestBody(n)));
      return `${model}: ${signatures}`;
    });

export const refusalsOf = (server: Pick<FakeGemini, 'journal'>): string[] =>
  server.journal().flatMap(({ refusal }) => refusal ?? []);
