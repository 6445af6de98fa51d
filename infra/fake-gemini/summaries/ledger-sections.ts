import type { Candidate } from '../answers/candidates.ts';
import { isSettled, namesPath, tellsOfOneself } from '../answers/facts.ts';

const calling = /^called (\w+)/;
const changing = /write|edit|create|delete|move|update|replace|patch/i;

/** The section of a statement that is no file: a profile without it has it among what is known. */
function talkSection({ saidBy, text }: Candidate): string {
  if (saidBy === 'model' && isSettled(text)) return 'decisions';
  return saidBy === 'user' && tellsOfOneself(text) ? 'user_profile' : 'key_knowledge';
}

/** The section of a ledger in which a statement belongs. */
export function ledgerSection(item: Candidate): string {
  if (item.isGoal === true) return 'overall_goal';
  if (item.isRule) return 'active_constraints';
  if (item.section !== undefined) return item.section;
  if (!namesPath(item.text)) return talkSection(item);
  const called = calling.exec(item.text)?.[1];
  if (called !== undefined && !changing.test(called)) return 'recent_actions';
  return item.saidBy === 'tool' ? 'file_system_state' : 'artifact_trail';
}
