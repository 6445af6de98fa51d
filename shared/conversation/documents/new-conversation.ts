import type { Conversation } from './conversation.ts';

/** A conversation document for a conversation that begins now; the caller adds what the user asked for. */
export function newConversation(start: {
  epoch: string;
  ownerUid: string;
  model: string;
  profile: Conversation['profile'];
  systemInstruction: string | undefined;
  /** Of the owner's memory as it is now; default: there is none. */
  memoryRevision?: number;
  now: Date;
}): Conversation {
  return {
    schemaVersion: 1,
    epoch: start.epoch,
    state: 'live',
    ownerUid: start.ownerUid,
    systemInstruction: start.systemInstruction,
    model: start.model,
    profile: start.profile,
    settings: {},
    metadata: {},
    createTime: start.now,
    updateTime: start.now,
    generation: 0,
    coveredThrough: { seq: 0, contentIndex: 0 },
    lastSeq: 0,
    changedIn: 0,
    context: {
      tokens: 0,
      overheadTokens: 0,
      calibration: 1,
      source: 'estimated',
      generation: 0,
      seq: 0,
    },
    pins: [],
    ...(start.memoryRevision !== undefined &&
      start.memoryRevision > 0 && { memoryRevision: start.memoryRevision }),
    compactionRequests: {},
  };
}
