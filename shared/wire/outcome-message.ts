import type { ContextTexts } from '#shared/wire/resources/context-object.ts';
import { policyConstants } from '#shared/compaction/constants.ts';
import { isUnpaid, outcomeStateSchema, type OutcomeState } from '#shared/compaction/outcome.ts';

interface OutcomeToTell {
  /** An `OutcomeState`; one of a later version is told neutrally. */
  state: string;
  beforeTokens: number;
  afterTokens: number;
  reason?: string | undefined;
}

/**
 * The sentence that tells a person how a compaction stands or ended, in the language of `locale`
 * (English, Korean, Japanese, Chinese; others get English), with figures in that language's form. Never an error
 * tone: a compaction that did not happen costs the user nothing.
 */
export function outcomeMessage(outcome: OutcomeToTell, locale?: string): string {
  const { language, texts } = outcomeTexts(locale);
  const figures = figuresOf(language);
  return texts[textKey(outcome)]
    .replace('{before}', figures.format(outcome.beforeTokens))
    .replace('{after}', figures.format(outcome.afterTokens));
}

/** What outcomes and contexts say to a person, in the language of `locale`. */
export const contextTexts = (locale?: string): ContextTexts => ({
  outcome: (record) => outcomeMessage(record, locale),
  leftOut: ({ turns, remedy }) => {
    const { language, texts } = outcomeTexts(locale);
    const text = remedy === 'wait' ? texts.leftOutForNow : texts.leftOut;
    return text.replace('{turns}', figuresOf(language).format(turns));
  },
});

/** A format takes much longer to make than to use; there are as many as translations. */
const figuresByLanguage = new Map<string, Intl.NumberFormat>();

function figuresOf(language: string): Intl.NumberFormat {
  const figures = figuresByLanguage.get(language) ?? new Intl.NumberFormat(language);
  figuresByLanguage.set(language, figures);
  return figures;
}

function textKey(outcome: OutcomeToTell): keyof OutcomeTexts {
  const otherState = textByOtherState.get(outcome.state);
  if (otherState) return otherState;
  const state = outcomeStateSchema.safeParse(outcome.state);
  if (!state.success) return 'nothingToDo';
  if (state.data === 'NOOP' || isUnpaid(outcome.reason))
    return textByNoopReason.get(outcome.reason ?? '') ?? 'nothingToDo';
  if (state.data === 'FAILED_ERROR' && outcome.reason === 'TURN_TOO_LARGE') return 'turnTooLarge';
  if (outcome.reason === 'TURNS_BLOCKED') return 'turnsBlocked';
  if (outcome.reason === 'SAVES_TOO_LITTLE') return 'savesTooLittle';
  const isSmall = outcome.beforeTokens < policyConstants.inflatedMessageTokens;
  if (state.data === 'FAILED_INFLATED_TOKEN_COUNT' && isSmall) return 'notBeneficial';
  return textByState[state.data];
}

const textByState: Readonly<Record<OutcomeState, keyof OutcomeTexts>> = {
  QUEUED: 'onItsWay',
  RUNNING: 'onItsWay',
  VERIFYING: 'onItsWay',
  COMPACTED: 'compacted',
  NOOP: 'nothingToDo',
  CONTENT_TRUNCATED: 'truncated',
  FAILED_INFLATED_TOKEN_COUNT: 'notReduced',
  FAILED_TOKEN_COUNT_ERROR: 'notCounted',
  FAILED_EMPTY_SUMMARY: 'emptySummary',
  FAILED_VERIFICATION: 'notVerified',
  FAILED_ERROR: 'failed',
  ABORTED: 'aborted',
  SUPERSEDED: 'superseded',
};

/** Why there was nothing to do, where the reason says it. */
const textByNoopReason: ReadonlyMap<string, keyof OutcomeTexts> = new Map([
  ['BELOW_THRESHOLD', 'belowThreshold'],
  ['TOO_SHORT', 'tooShort'],
  ['NOTHING_TO_FOLD', 'nothingToFold'],
  ['SAVES_TOO_LITTLE', 'nothingToFold'],
  ['NOT_ARMED', 'notArmed'],
  ['DECLINED', 'notArmed'],
  ['NO_PROGRESS', 'notArmed'],
  ['BREAKER_OPEN', 'paused'],
  ['SPEND_LIMIT', 'paused'],
  ['SWITCHED_OFF', 'switchedOff'],
  ['VETOED', 'vetoed'],
  ['MESSAGE_BLOCKED', 'messageBlocked'],
  ['INSTRUCTION_BLOCKED', 'blockNotFound'],
  ['BLOCK_NOT_FOUND', 'blockNotFound'],
  ['USER_DAILY_USD', 'waitsForUser'],
  ['GLOBAL_BUDGET', 'waitsForAll'],
]);

/** Generations that no compaction made. */
const textByOtherState: ReadonlyMap<string, keyof OutcomeTexts> = new Map([
  ['RESTORED', 'restored'],
  ['CHANGED', 'changed'],
]);

/**
 * Sentences for people, by language. `{before}` and `{after}` stand for formatted token counts, `{turns}` for how many.
 * Nothing is promised: a compaction may be off, fail, or save too little.
 */
type OutcomeTexts = Readonly<Record<keyof typeof en, string>>;

const en = {
  onItsWay: 'The history is being compacted. The chat goes on meanwhile.',
  compacted: 'The history was compacted from {before} to {after} tokens.',
  nothingToDo: 'There is nothing to compact.',
  belowThreshold:
    'There is nothing to compact: the conversation, {before} tokens, is below the threshold.',
  tooShort: 'There is nothing to compact: the conversation is still too short.',
  nothingToFold: 'There is nothing to compact: the newest messages stay as they are.',
  notArmed: 'There is nothing to compact: little was added since the last compaction.',
  paused: 'Compaction pauses for a while. The history stays as it is.',
  waitsForUser:
    'Compaction waits: what one user may cost in a day is used up. It goes on by itself the next day. The history stays as it is.',
  waitsForAll:
    'Compaction waits: the service has reached its budget of the day. It goes on by itself the next day. The history stays as it is.',
  switchedOff: 'Automatic compaction is switched off for this conversation.',
  vetoed: 'The app chose not to compact now. The history stays as it is.',
  truncated: 'Long tool outputs were shortened, from {before} to {after} tokens.',
  notBeneficial:
    'Compaction would not be beneficial at this size: from {before} to {after} tokens. The history stays as it is.',
  notReduced:
    'Compaction did not reduce the size: from {before} to {after} tokens. The history stays as it is.',
  savesTooLittle:
    'Compaction would have saved too little: from {before} to {after} tokens. The history stays as it is.',
  notCounted: 'The tokens could not be counted. Nothing changed.',
  emptySummary: 'The summary was empty. Nothing changed.',
  notVerified: 'The summary did not pass the checks. Nothing changed.',
  failed: 'Compaction did not succeed. Nothing changed.',
  turnTooLarge: 'One message is too large to be summarised. The history stays as it is.',
  aborted: 'Compaction was stopped. Nothing changed.',
  superseded: 'The conversation changed in the meantime. Nothing was replaced.',
  restored: 'An earlier state of the history is in use again, {after} tokens.',
  changed: 'Messages were changed or deleted; the history follows.',
  turnsBlocked:
    'A filter of the model blocks messages of this conversation. They stay in the transcript; the model answers without them.',
  messageBlocked: 'A filter of the model blocks the last message. Word it differently.',
  blockNotFound:
    'A filter of the model blocks this conversation, for its instruction, memory or pins, or for what no single message holds. Change those, or go on in a fork from an earlier message.',
  leftOut:
    'The model answers without the oldest turns ({turns}). They stay in the transcript; compact the history to give the model a summary of them.',
  leftOutForNow:
    'The model answers without the oldest turns ({turns}). They stay in the transcript; a compaction is on its way.',
};

const ko: OutcomeTexts = {
  onItsWay: '대화 기록을 압축하고 있습니다. 그동안에도 대화를 계속할 수 있습니다.',
  compacted: '대화 기록을 {before}토큰에서 {after}토큰으로 압축했습니다.',
  nothingToDo: '압축할 내용이 없습니다.',
  belowThreshold: '압축할 내용이 없습니다. 대화({before}토큰)가 기준보다 작습니다.',
  tooShort: '압축할 내용이 없습니다. 대화가 아직 짧습니다.',
  nothingToFold: '압축할 내용이 없습니다. 최근 메시지는 그대로 둡니다.',
  notArmed: '압축할 내용이 없습니다. 지난 압축 이후 추가된 내용이 적습니다.',
  paused: '압축을 잠시 쉽니다. 기록은 그대로 둡니다.',
  waitsForUser:
    '압축이 대기 중입니다. 사용자 한 명의 하루 비용 한도를 다 썼습니다. 다음 날 저절로 이어집니다. 기록은 그대로 둡니다.',
  waitsForAll:
    '압축이 대기 중입니다. 서비스의 하루 예산을 다 썼습니다. 다음 날 저절로 이어집니다. 기록은 그대로 둡니다.',
  switchedOff: '이 대화에서는 자동 압축이 꺼져 있습니다.',
  vetoed: '앱이 지금은 압축하지 않기로 했습니다. 기록은 그대로 둡니다.',
  truncated: '긴 도구 출력을 {before}토큰에서 {after}토큰으로 줄였습니다.',
  notBeneficial:
    '이 크기에서는 압축해도 이점이 없습니다({before}토큰에서 {after}토큰). 기록은 그대로 둡니다.',
  notReduced:
    '압축해도 크기가 줄지 않았습니다({before}토큰에서 {after}토큰). 기록은 그대로 둡니다.',
  savesTooLittle:
    '압축해도 줄어드는 크기가 너무 작았습니다({before}토큰에서 {after}토큰). 기록은 그대로 둡니다.',
  notCounted: '토큰 수를 셀 수 없었습니다. 바뀐 것은 없습니다.',
  emptySummary: '요약이 비어 있었습니다. 바뀐 것은 없습니다.',
  notVerified: '요약이 검사를 통과하지 못했습니다. 바뀐 것은 없습니다.',
  failed: '압축하지 못했습니다. 바뀐 것은 없습니다.',
  turnTooLarge: '요약하기에 너무 큰 메시지가 있습니다. 기록은 그대로 둡니다.',
  aborted: '압축을 중단했습니다. 바뀐 것은 없습니다.',
  superseded: '그사이 대화가 바뀌었습니다. 교체된 것은 없습니다.',
  restored: '이전 상태의 기록({after}토큰)을 다시 사용합니다.',
  changed: '메시지가 바뀌거나 삭제되어 기록에 반영했습니다.',
  turnsBlocked:
    '모델의 필터가 이 대화의 일부 메시지를 차단합니다. 메시지는 그대로 남아 있으며, 모델은 그 메시지 없이 답합니다.',
  messageBlocked: '모델의 필터가 마지막 메시지를 차단합니다. 다르게 표현해 보세요.',
  blockNotFound:
    '모델의 필터가 이 대화를 차단합니다. 지침, 메모리, 고정 항목 때문이거나 한 메시지만으로는 알 수 없는 이유 때문입니다. 이를 바꾸거나 이전 메시지에서 갈라진 대화로 이어 가세요.',
  leftOut:
    '모델은 가장 오래된 대화 {turns}개를 보지 않고 답합니다. 대화는 그대로 남아 있으며, 기록을 압축하면 모델이 그 요약을 봅니다.',
  leftOutForNow:
    '모델은 가장 오래된 대화 {turns}개를 보지 않고 답합니다. 대화는 그대로 남아 있으며, 압축이 진행 중입니다.',
};

const ja: OutcomeTexts = {
  onItsWay: '履歴を圧縮しています。その間も会話を続けられます。',
  compacted: '履歴を{before}トークンから{after}トークンに圧縮しました。',
  nothingToDo: '圧縮するものはありません。',
  belowThreshold: '圧縮するものはありません。会話（{before}トークン）はしきい値未満です。',
  tooShort: '圧縮するものはありません。会話はまだ短いです。',
  nothingToFold: '圧縮するものはありません。最新のメッセージはそのまま残ります。',
  notArmed: '圧縮するものはありません。前回の圧縮からの追加がわずかです。',
  paused: '圧縮をしばらく休止します。履歴はそのままです。',
  waitsForUser:
    '圧縮は待機中です。ユーザー1人の1日の費用の上限に達しました。翌日に自動で再開します。履歴はそのままです。',
  waitsForAll:
    '圧縮は待機中です。サービスの1日の予算に達しました。翌日に自動で再開します。履歴はそのままです。',
  switchedOff: 'この会話では自動圧縮がオフになっています。',
  vetoed: 'アプリが今は圧縮しないことを選びました。履歴はそのままです。',
  truncated: '長いツール出力を{before}トークンから{after}トークンに短縮しました。',
  notBeneficial:
    'この大きさでは圧縮しても効果がありません（{before}トークンから{after}トークン）。履歴はそのままです。',
  notReduced:
    '圧縮しても小さくなりませんでした（{before}トークンから{after}トークン）。履歴はそのままです。',
  savesTooLittle:
    '圧縮しても減る量がわずかでした（{before}トークンから{after}トークン）。履歴はそのままです。',
  notCounted: 'トークン数を数えられませんでした。変更はありません。',
  emptySummary: '要約が空でした。変更はありません。',
  notVerified: '要約が検査を通りませんでした。変更はありません。',
  failed: '圧縮できませんでした。変更はありません。',
  turnTooLarge: '大きすぎて要約できないメッセージがあります。履歴はそのままです。',
  aborted: '圧縮を中止しました。変更はありません。',
  superseded: 'その間に会話が変わりました。置き換えたものはありません。',
  restored: '以前の状態の履歴（{after}トークン）を再び使っています。',
  changed: 'メッセージの変更または削除を履歴に反映しました。',
  turnsBlocked:
    'モデルのフィルターがこの会話の一部のメッセージをブロックしています。メッセージはそのまま残り、モデルはそれらなしで回答します。',
  messageBlocked:
    'モデルのフィルターが最後のメッセージをブロックしています。別の言い方にしてください。',
  blockNotFound:
    'モデルのフィルターがこの会話をブロックしています。原因は指示、メモリー、ピン、または一つのメッセージだけでは特定できない内容です。それらを変更するか、以前のメッセージから分岐した会話で続けてください。',
  leftOut:
    'モデルは最も古い{turns}往復を見ずに回答します。会話はそのまま残っています。履歴を圧縮すると、モデルはその要約を見ます。',
  leftOutForNow:
    'モデルは最も古い{turns}往復を見ずに回答します。会話はそのまま残っています。圧縮が進行中です。',
};

/** Simplified characters, for readers of traditional ones, too. */
const zh: OutcomeTexts = {
  onItsWay: '正在压缩历史记录，对话可以照常继续。',
  compacted: '历史记录已从 {before} 个 token 压缩到 {after} 个 token。',
  nothingToDo: '没有需要压缩的内容。',
  belowThreshold: '没有需要压缩的内容：对话（{before} 个 token）低于阈值。',
  tooShort: '没有需要压缩的内容：对话还太短。',
  nothingToFold: '没有需要压缩的内容：最新的消息保持原样。',
  notArmed: '没有需要压缩的内容：上次压缩之后新增的内容很少。',
  paused: '压缩暂停一段时间。历史记录保持不变。',
  waitsForUser: '压缩正在等待：单个用户一天的费用额度已用完，第二天会自动继续。历史记录保持不变。',
  waitsForAll: '压缩正在等待：服务一天的预算已用完，第二天会自动继续。历史记录保持不变。',
  switchedOff: '此对话已关闭自动压缩。',
  vetoed: '应用选择暂不压缩。历史记录保持不变。',
  truncated: '较长的工具输出已从 {before} 个 token 缩短到 {after} 个 token。',
  notBeneficial:
    '以目前的大小，压缩没有益处（从 {before} 个 token 到 {after} 个 token）。历史记录保持不变。',
  notReduced:
    '压缩没有减小历史记录（从 {before} 个 token 到 {after} 个 token）。历史记录保持不变。',
  savesTooLittle:
    '压缩能减少的太少（从 {before} 个 token 到 {after} 个 token）。历史记录保持不变。',
  notCounted: '无法计算 token 数。没有任何更改。',
  emptySummary: '摘要为空。没有任何更改。',
  notVerified: '摘要未通过检查。没有任何更改。',
  failed: '压缩未成功。没有任何更改。',
  turnTooLarge: '有一条消息太大，无法生成摘要。历史记录保持不变。',
  aborted: '压缩已停止。没有任何更改。',
  superseded: '对话在此期间发生了变化。没有替换任何内容。',
  restored: '已恢复使用较早的历史记录（{after} 个 token）。',
  changed: '消息已更改或删除，历史记录已随之更新。',
  turnsBlocked:
    '模型的过滤器会拦截此对话中的部分消息。它们仍保留在对话记录中，模型回答时不再看到它们。',
  messageBlocked: '模型的过滤器拦截了最后一条消息。请换一种说法。',
  blockNotFound:
    '模型的过滤器拦截了此对话，原因在于其指令、记忆或固定内容，或无法归于某一条消息。请修改这些内容，或从较早的消息分叉后继续。',
  leftOut:
    '模型回答时看不到最早的 {turns} 轮对话。它们仍保留在对话记录中；压缩历史记录后，模型可以看到它们的摘要。',
  leftOutForNow: '模型回答时看不到最早的 {turns} 轮对话。它们仍保留在对话记录中；压缩正在进行。',
};

const textsByLanguage: ReadonlyMap<string, OutcomeTexts> = new Map([
  ['en', en],
  ['ko', ko],
  ['ja', ja],
  ['zh', zh],
]);

/** The sentences for a BCP 47 tag (`ko-KR`); English for languages without a translation. */
function outcomeTexts(locale: string | undefined): {
  language: string;
  texts: OutcomeTexts;
} {
  const language = (locale ?? '').split(/[-_]/)[0]?.toLowerCase() ?? '';
  const texts = textsByLanguage.get(language);
  return texts === undefined ? { language: 'en', texts: en } : { language, texts };
}
