import {
  compressionInstruction,
  compressionRequest,
  critiqueRequest,
  repairRequest,
} from '../../../shared/compaction/prompts.ts';
import { readSnapshot } from '../../../shared/compaction/snapshot-reader.ts';
import type { SnapshotSections } from '../../../shared/compaction/snapshot-sections.ts';
import { contentText, type Content } from '../../../shared/conversation/content.ts';
import { AppError } from '../../../shared/errors.ts';
import type { ModelGenerator } from '../../../shared/ports.ts';
import type { SnapshotRequest, SnapshotResult, SnapshotStrategy } from './snapshot-strategy.ts';

/** One answer of the summariser. */
type Pass =
  | { kind: 'read'; sections: SnapshotSections; text: string }
  | { kind: 'blank' }
  | { kind: 'refused'; reason: string; text: string };

const userContent = (text: string): Content => ({ role: 'user', parts: [{ text }] });
const modelContent = (text: string): Content => ({ role: 'model', parts: [{ text }] });

function readPass(text: string, finishReason: string): Pass {
  // An answer that was cut or refused half-way is no memory, however much of it there is.
  if (finishReason !== 'STOP') return { kind: 'refused', reason: `SUMMARY_${finishReason}`, text };
  if (text === '') return { kind: 'blank' };
  const reading = readSnapshot(text);
  if (reading.ok) return { kind: 'read', sections: reading.snapshot, text };
  return { kind: 'refused', reason: `SUMMARY_UNREADABLE_${reading.problem}`, text };
}

interface Asking {
  model: ModelGenerator;
  request: SnapshotRequest;
  signal: AbortSignal;
}

async function ask(
  { model, request, signal }: Asking,
  promptId: string,
  following: readonly Content[],
): Promise<Pass> {
  request.bill.calls += 1;
  const answer = await model.generate(
    {
      model: request.model,
      systemInstruction: compressionInstruction({ maximumTokens: request.maximumTokens }),
      contents: [...request.contents, ...following],
      maxOutputTokens: request.maxOutputTokens,
      role: 'utility_compressor',
      promptId,
    },
    signal,
  );
  request.bill.promptTokens += answer.usage?.promptTokens ?? 0;
  request.bill.outputTokens +=
    (answer.usage?.outputTokens ?? 0) + (answer.usage?.thoughtsTokens ?? 0);
  // Thoughts are not part of the answer.
  const text = contentText({ role: 'model', parts: answer.parts }).trim();
  if (answer.blockReason !== undefined)
    return { kind: 'refused', reason: `SUMMARY_BLOCKED_${answer.blockReason}`, text: '' };
  return readPass(text, answer.finishReason ?? 'UNFINISHED');
}

const anchorOf = (request: SnapshotRequest): Content =>
  userContent(
    compressionRequest({
      hasPreviousSnapshot: request.hasPreviousSnapshot,
      focus: request.focus,
    }),
  );

/** The second pass criticises a first answer that can be read; else it is a second try. */
async function secondPass(asking: Asking, first: Pass): Promise<Pass> {
  const anchor = anchorOf(asking.request);
  const following =
    first.kind === 'read'
      ? [anchor, modelContent(first.text), userContent(critiqueRequest)]
      : [anchor];
  try {
    return await ask(asking, `${asking.request.promptId}-verify`, following);
  } catch (error) {
    // The first summary is good and paid for: only a stop from outside discards it.
    const keepsFirst = first.kind === 'read' && error instanceof AppError && !asking.signal.aborted;
    if (!keepsFirst) throw error;
    return first;
  }
}

function resultOf(first: Pass, second: Pass): SnapshotResult {
  if (second.kind === 'read')
    return { kind: 'snapshot', sections: second.sections, text: second.text };
  if (first.kind === 'read')
    return { kind: 'snapshot', sections: first.sections, text: first.text };
  if (second.kind === 'refused') return { kind: 'refused', reason: second.reason };
  if (first.kind === 'refused') return { kind: 'refused', reason: first.reason };
  return { kind: 'empty' };
}

/**
 * Gemini CLI's two passes: summarise, then criticise and improve. A second answer that cannot be used
 * falls back to the first. Always two calls, unless the first one fails.
 */
export const rewriteStrategy: SnapshotStrategy = {
  name: 'rewrite',

  async summarise(model, request, signal) {
    const asking = { model, request, signal };
    const first = await ask(asking, request.promptId, [anchorOf(request)]);
    return resultOf(first, await secondPass(asking, first));
  },

  async repair(model, request, signal) {
    const answer = await ask({ model, request, signal }, `${request.promptId}-repair`, [
      anchorOf(request),
      modelContent(request.snapshotText),
      userContent(repairRequest(request)),
    ]);
    return answer.kind === 'read' ? answer.sections : undefined;
  },
};
