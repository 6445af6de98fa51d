import { withoutFrame } from '#shared/compaction/snapshot-sections.ts';
import { decodeXml } from '#shared/text/escape-xml.ts';

const loneTag = /^<\/?[\w-]+>$/;
const bullet = /^[-*•]\s+/u;

/**
 * What a rendered snapshot says, a statement each: without its frame, its tags, its escapes and the
 * bullets of its lists.
 */
export function statementsOf(snapshotText: string): string[] {
  return withoutFrame(snapshotText)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !loneTag.test(line))
    .map((line) => decodeXml(line.replace(bullet, '')));
}
