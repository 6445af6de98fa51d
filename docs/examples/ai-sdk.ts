/*
 * Compaction for a chat or an agent of the AI SDK (`ai` 7), whose messages the app keeps. What a model is sent stays bounded;
 * the app's own messages do not change.
 *
 *   const model = google('gemini-3.8-flash');
 *   const { messages, snapshot } = await load(chatId);
 *   const compaction = compactSteps({ model: fromAiSdk(model), snapshot, onError: console.error });
 *   const { response } = await generateText({ model, messages, prepareStep: compaction.prepareStep });
 *   await save(chatId, { messages: [...messages, ...response.messages], snapshot: compaction.snapshot() });
 */
import type { ModelMessage, ToolContent } from 'ai';
import {
  compact,
  matchesHistory,
  renderSnapshot,
  type CompactionModel,
  type CompactionSettings,
  type CompactionSnapshot,
  type Content,
  type Part,
} from 'recap/compaction';

export function compactSteps(options: {
  /** Writes the summaries. */
  model: CompactionModel;
  policy?: CompactionSettings;
  /** As `snapshot()` returned it in the last request of the chat; plain JSON. */
  snapshot?: CompactionSnapshot | undefined;
  /** Is told why a summariser could not be asked. */
  onError: (error: unknown) => void;
}) {
  const { model, policy, onError } = options;
  let { snapshot } = options;
  return {
    snapshot: () => snapshot,
    prepareStep: async ({ messages }: { messages: ModelMessage[] }) => {
      // What stays is the same object, so that each message goes on as it came.
      const given = new Map<Content, ModelMessage>();
      const system = messages.filter(({ role }) => role === 'system');
      const contents = messages
        .filter(({ role }) => role !== 'system')
        .map((message) => {
          const content = toContent(message);
          given.set(content, message);
          return content;
        });
      const toMessage = (content: Content): ModelMessage =>
        given.get(content) ?? {
          role: content.role === 'model' ? 'assistant' : 'user',
          content: content.parts[0]?.text ?? '',
        };
      // An edited message begins a history of its own.
      if (snapshot && !matchesHistory({ contents, snapshot })) snapshot = undefined;
      try {
        const result = await compact({ contents, snapshot, policy, model });
        snapshot = result.snapshot;
        return { messages: [...system, ...result.contents.map(toMessage)] };
      } catch (error) {
        // The user need not wait for a summariser that is away: what is known stands, and the next step asks again.
        onError(error);
        const shown = snapshot ? renderSnapshot({ contents, snapshot }) : contents;
        return { messages: [...system, ...shown.map(toMessage)] };
      }
    },
  };
}

const toContent = ({ role, content }: ModelMessage): Content => ({
  role: role === 'assistant' ? 'model' : 'user',
  parts: typeof content === 'string' ? [{ text: content }] : content.flatMap(toPart),
});

type MessagePart = Exclude<ModelMessage['content'], string>[number];

function toPart(part: MessagePart): Part[] {
  switch (part.type) {
    case 'text':
      return [{ text: part.text }];
    case 'reasoning':
      return [{ text: part.text, thought: true }];
    case 'tool-call': {
      const { toolCallId: id, toolName: name, input } = part;
      return [{ functionCall: { id, name, args: toRecord(input, 'input') } }];
    }
    case 'tool-result': {
      const { toolCallId: id, toolName: name, output } = part;
      return [{ functionResponse: { id, name, response: toResponse(output) } }];
    }
    case 'image':
      return toFile(part.mediaType ?? 'image/*', part.image);
    case 'file':
      return toFile(part.mediaType, part.data);
    case 'custom':
    case 'reasoning-file':
    case 'tool-approval-request':
    case 'tool-approval-response':
      return [];
  }
}

type ToolOutput = Extract<ToolContent[number], { type: 'tool-result' }>['output'];

function toResponse(output: ToolOutput): Record<string, unknown> {
  if (output.type === 'execution-denied') return { error: output.reason ?? 'denied' };
  const key = output.type.startsWith('error') ? 'error' : 'output';
  return toRecord(output.value, key);
}

/** A value as an object: one that is none stands under `key`. */
const toRecord = (value: unknown, key: string): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { ...value }
    : { [key]: value };

function toFile(mimeType: string, data: unknown): Part[] {
  if (data instanceof URL) return [{ fileData: { mimeType, fileUri: data.href } }];
  if (typeof data === 'string' && /^https?:/.test(data))
    return [{ fileData: { mimeType, fileUri: data } }];
  return [{ text: `[a file: ${mimeType}]` }];
}
