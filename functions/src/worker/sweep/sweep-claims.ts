import { runClaim } from '#functions/guests/run-claim.ts';
import { decodeClaim } from '#shared/conversation/documents/claim.ts';
import { CLAIMS } from '#shared/conversation/documents/paths.ts';
import { readPages } from '#shared/store/many-documents.ts';
import { forEachItem, type Sweep } from './sweep-pass.ts';

/** The request that has begun a claim most often ends it; after this the sweep helps. */
const CLAIM_LEFT_AFTER_MS = 60_000;
const PAGE = 100;
/** Each moves ten conversations at once. */
const AT_ONCE = 2;

/** Moves what guests have to the accounts that claimed them, where the instance that began it has died. */
export async function sweepClaims(sweep: Sweep): Promise<void> {
  const { dependencies, signal, counts } = sweep;
  const leftBefore = new Date(dependencies.clock.now().getTime() - CLAIM_LEFT_AFTER_MS);
  const where = [{ field: 'state', op: '==', value: 'moving' }] as const;
  for await (const items of readPages(dependencies.store, {
    collection: CLAIMS,
    where,
    limit: PAGE,
  })) {
    await forEachItem(sweep, { pass: 'claims', items, atOnce: AT_ONCE }, async (document) => {
      const claim = decodeClaim(document);
      if (claim.time > leftBefore) return;
      await runClaim(dependencies, claim, signal);
      counts.claimsFinished += 1;
    });
    if (signal.aborted) return;
  }
}
