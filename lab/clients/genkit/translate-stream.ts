import type { Frame } from './chat-client.ts';
import { toFinishReason, toRef, unwrapOutput } from './translate-transcript.ts';

export type GenkitChunk = Record<string, unknown>;

/** The stream of one turn as Genkit's chunks; `refs` are the case's names of its calls, in order. */
export function toChunks(frames: readonly Frame[], refs: readonly string[]): GenkitChunk[] {
  const names = new Map<unknown, unknown>();
  return frames.flatMap((frame): GenkitChunk[] => {
    switch (frame.type) {
      case 'text-delta':
        return [{ modelChunk: { index: 0, role: 'model', content: [{ text: frame['delta'] }] } }];
      case 'tool-input-available':
        names.set(frame['toolCallId'], frame['toolName']);
        return [];
      case 'tool-output-available': {
        const { toolCallId: id, output } = frame;
        const called = { name: names.get(id), ref: toRef(id, refs) };
        const toolResponse = { ...called, output: unwrapOutput(output) };
        return [{ modelChunk: { role: 'tool', content: [{ toolResponse }] } }];
      }
      case 'finish':
        return [{ turnEnd: { finishReason: toFinishReason(frame['finishReason']) } }];
      default:
        return [];
    }
  });
}

/** What the model itself says: every answer comes so here, in Genkit only one that the case streams. */
export const isModelText = ({ modelChunk }: GenkitChunk): boolean =>
  typeof modelChunk === 'object' &&
  modelChunk !== null &&
  'role' in modelChunk &&
  modelChunk.role === 'model';
