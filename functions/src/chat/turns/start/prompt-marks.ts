import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { pinText } from '#shared/conversation/pins/pin-budget.ts';
import type { MemoryTexts } from '#shared/memory/render-memory.ts';
import type { PromptMarks } from '#shared/models/cache-miss.ts';
import type { Prompt } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/** Of a part of a prompt: two parts have the same one by accident once in 2^32. */
const DIGEST_CHARACTERS = 8;

/** A prompt, and what of it the instruction shows. */
interface MarkedPrompt {
  prompt: Prompt;
  memory: MemoryTexts;
  pins: Conversation['pins'];
}

/** What a prompt begins with: the meter keeps it for the turn behind it. */
export function promptMarks(
  { sha256 }: Pick<ChatDependencies, 'sha256'>,
  { prompt, memory, pins }: MarkedPrompt,
): PromptMarks {
  const digest = (text: string) => (text === '' ? '' : sha256(text).slice(0, DIGEST_CHARACTERS));
  const { systemInstruction = '', tools = [] } = prompt;
  return {
    instruction: digest(systemInstruction),
    tools: digest(tools.length === 0 ? '' : JSON.stringify(tools)),
    memory: digest(memory.app + memory.user),
    pins: digest(pinText(pins)),
  };
}
