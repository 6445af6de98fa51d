/*
 * Compaction for an agent of Genkit (1.42) whose sessions are in Firestore. What a model is sent stays bounded; the session
 * keeps every message, and the snapshot in its custom state.
 *
 *   const ai = genkit({ plugins: [googleAI()] });
 *   export const assistant = ai.defineAgent({
 *     name: 'assistant',
 *     model: googleAI.model('gemini-3.8-flash'),
 *     store: new FirestoreSessionStore({ db }),
 *     use: [compacted({ model: fromGemini('gemini-3.8-flash', { apiKey }), onError: console.error })],
 *   });
 */
import { generateMiddleware, type MessageData, type Part as GenkitPart } from 'genkit/beta';
import {
  compact,
  compactionSnapshotSchema,
  matchesHistory,
  renderSnapshot,
  type CompactionModel,
  type CompactionSettings,
  type Content,
  type Part,
} from 'recap/compaction';

/** What of a session's custom state is ours. */
interface Compacted {
  compaction?: unknown;
}

export function compacted(options: {
  /** Writes the summaries. */
  model: CompactionModel;
  policy?: CompactionSettings;
  /** Is told why a summariser could not be asked. */
  onError: (error: unknown) => void;
}) {
  const { model, policy, onError } = options;
  return generateMiddleware({ name: 'compacted' }, ({ ai }) => ({
    // Around the model, not around generate(): the session stores what generate() was given.
    async model(request, call, next) {
      const session = ai.currentSession<Compacted>();
      const stored = compactionSnapshotSchema.safeParse(session.getCustom()?.compaction).data;
      // What stays is the same object, so that each message goes on as it came.
      const given = new Map<Content, MessageData>();
      const system = request.messages.filter(({ role }) => role === 'system');
      const contents = request.messages
        .filter(({ role }) => role !== 'system')
        .map((message) => {
          const content = toContent(message);
          given.set(content, message);
          return content;
        });
      const snapshot =
        stored && matchesHistory({ contents, snapshot: stored }) ? stored : undefined;
      let shown = snapshot ? renderSnapshot({ contents, snapshot }) : contents;
      try {
        const signal = call.abortSignal;
        const result = await compact({ contents, snapshot, policy, model, signal });
        shown = result.contents;
        if (result.report.state === 'COMPACTED')
          session.updateCustom((custom) => ({ ...custom, compaction: result.snapshot }));
      } catch (error) {
        if (call.abortSignal?.aborted) throw error;
        // The user need not wait for a summariser that is away: what is known stands, and the next message asks again.
        onError(error);
      }
      const messages = shown.map((content) => given.get(content) ?? toMessage(content));
      return next({ ...request, messages: [...system, ...messages] }, call);
    },
  }))();
}

const toContent = ({ role, content }: MessageData): Content => ({
  role: role === 'model' ? 'model' : 'user',
  parts: content.flatMap(toPart),
});

const toMessage = ({ role, parts }: Content): MessageData => ({
  role,
  content: parts.map(({ text = '' }) => ({ text })),
});

function toPart({ text, reasoning, toolRequest, toolResponse, media }: GenkitPart): Part[] {
  if (text !== undefined) return [{ text }];
  if (reasoning !== undefined) return [{ text: reasoning, thought: true }];
  if (toolRequest) {
    const { ref: id, name, input } = toolRequest;
    return [{ functionCall: { id, name, args: toRecord(input, 'input') } }];
  }
  if (toolResponse) {
    const { ref: id, name, output } = toolResponse;
    return [{ functionResponse: { id, name, response: toRecord(output, 'output') } }];
  }
  if (!media) return [];
  const { url: fileUri, contentType: mimeType } = media;
  return fileUri.startsWith('data:')
    ? [{ text: `[a file: ${mimeType ?? 'unknown type'}]` }]
    : [{ fileData: { fileUri, mimeType } }];
}

/** A value as an object: one that is none stands under `key`. */
const toRecord = (value: unknown, key: string): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { ...value }
    : { [key]: value };
