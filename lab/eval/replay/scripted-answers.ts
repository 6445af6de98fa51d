import { createHash } from 'node:crypto';
import type { Script } from './recording.ts';

export interface ScriptedConversation {
  /** Id of the recording. */
  recordingId: string;
  /** Id under which the service knows the conversation. */
  conversationId: string;
  systemInstruction?: string;
  script: Script;
}

/**
 * What the fake Gemini needs to say what the recording says: each answer by the text of the user message, and
 * by how often that text has been sent before, in the order in which the replay sends.
 */
export function scriptedAnswers(conversations: readonly ScriptedConversation[]) {
  const timesSent = new Map<string, number>();
  return conversations.flatMap(({ recordingId, script }) =>
    script.exchanges.flatMap(({ userTexts, answerTexts }) => {
      const userHash = createHash('sha256').update(userTexts.join('\n')).digest('hex');
      const ordinal = (timesSent.get(userHash) ?? 0) + 1;
      timesSent.set(userHash, ordinal);
      if (answerTexts.length === 0) return [];
      // One part: a stream's text parts are pieces of one text, and would be joined without a space.
      const contents = [{ role: 'model', parts: [{ text: answerTexts.join('\n') }] }];
      return [{ conversation: recordingId, userHash, ordinal, contents }];
    }),
  );
}

/** Hands the recorded answers to a running fake Gemini. Throws an Error when it refuses them. */
export async function registerScriptedAnswers(
  fakeGeminiUrl: string,
  conversations: readonly ScriptedConversation[],
): Promise<number> {
  const answers = scriptedAnswers(conversations);
  const response = await fetch(`${fakeGeminiUrl}/control/answers`, {
    method: 'POST',
    body: JSON.stringify({ answers }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the fake Gemini refused the recorded answers: ${text}`);
  return answers.length;
}
