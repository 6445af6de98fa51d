import { createHash } from 'node:crypto';
import type { Config } from '#functions/config.ts';
import { verifyConversation } from '#infra/ops/verify/verify-conversation.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import type { Finding } from './ledger.ts';
import { isContextTrue, type ShownContext } from './shown-context.ts';

/** What a run calls it when an invariant of the documents does not hold. */
const kinds: Readonly<Record<`I${number}`, Finding['kind']>> = {
  I1: 'lost',
  I2: 'mismatched',
  I3: 'lost',
  I4: 'doubled',
  I5: 'doubled',
  I6: 'unfinished',
  I7: 'leaked',
  I8: 'lost',
};

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

/**
 * What `npm run ops -- verify` finds in a conversation that is at rest, and whether `/context` (`shown`; undefined: not
 * asked) shows what its documents make.
 */
export async function verifyStored(
  { store, config, shown }: { store: DocumentStore; config: Config; shown?: ShownContext },
  conversationId: string,
): Promise<Finding[]> {
  const reading = { store, config, sha256, now: () => new Date() };
  const { findings, isBusy } = await verifyConversation(reading, conversationId);
  if (isBusy) return [{ kind: 'unfinished', conversationId, what: 'it changes, and should rest' }];
  const found = findings.map(({ group, name, path, is }): Finding => ({
    kind: kinds[group] ?? 'mismatched',
    conversationId,
    what: `${group} ${name} ${path}: ${is}`,
  }));
  if (shown && !(await isContextTrue(reading, conversationId, shown)))
    found.push({
      kind: 'mismatched',
      conversationId,
      what: 'I9 context-differs: /context shows something else than the documents make',
    });
  return found;
}
