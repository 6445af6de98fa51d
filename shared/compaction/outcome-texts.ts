/** Sentences for people, by language. `{before}` and `{after}` stand for formatted token counts. */
export interface OutcomeTexts {
  onItsWay: string;
  compacted: string;
  nothingToDo: string;
  belowThreshold: string;
  tooShort: string;
  nothingToFold: string;
  notArmed: string;
  paused: string;
  waitsForUser: string;
  waitsForAll: string;
  vetoed: string;
  truncated: string;
  notBeneficial: string;
  notReduced: string;
  notCounted: string;
  emptySummary: string;
  notVerified: string;
  failed: string;
  turnTooLarge: string;
  aborted: string;
  superseded: string;
  restored: string;
  changed: string;
}

const en: OutcomeTexts = {
  onItsWay: 'The history is being compacted. The chat goes on meanwhile.',
  compacted: 'The history was compacted from {before} to {after} tokens.',
  nothingToDo: 'There is nothing to compact.',
  belowThreshold:
    'There is nothing to compact: the conversation, {before} tokens, is below the threshold.',
  tooShort: 'There is nothing to compact: the conversation is still too short.',
  nothingToFold: 'There is nothing to compact: the newest messages stay as they are.',
  notArmed: 'There is nothing to compact: little was added since the last compaction.',
  paused: 'Compaction pauses for a while. The full history stays in use.',
  waitsForUser:
    'Compaction waits: what one user may cost in a day is used up. It goes on by itself the next day. The full history stays in use.',
  waitsForAll:
    'Compaction waits: the service has reached its budget of the day. It goes on by itself the next day. The full history stays in use.',
  vetoed: 'The app chose not to compact now. The full history stays in use.',
  truncated: 'Long tool outputs were shortened, from {before} to {after} tokens.',
  notBeneficial: 'Compaction would not be beneficial at this size. The full history stays in use.',
  notReduced: 'Compaction did not reduce the size. The full history stays in use.',
  notCounted: 'The tokens could not be counted. Nothing changed.',
  emptySummary: 'The summary was empty. Nothing changed.',
  notVerified: 'The summary did not pass the checks. Nothing changed.',
  failed: 'Compaction did not succeed. Nothing changed.',
  turnTooLarge: 'One message is too large to be summarised. The full history stays in use.',
  aborted: 'Compaction was stopped. Nothing changed.',
  superseded: 'The conversation changed in the meantime. Nothing was replaced.',
  restored: 'An earlier state of the history is in use again, {after} tokens.',
  changed: 'Messages were changed or deleted; the history follows.',
};

const ko: OutcomeTexts = {
  onItsWay: '대화 기록을 압축하고 있습니다. 그동안에도 대화를 계속할 수 있습니다.',
  compacted: '대화 기록을 {before}토큰에서 {after}토큰으로 압축했습니다.',
  nothingToDo: '압축할 내용이 없습니다.',
  belowThreshold: '압축할 내용이 없습니다. 대화({before}토큰)가 기준보다 작습니다.',
  tooShort: '압축할 내용이 없습니다. 대화가 아직 짧습니다.',
  nothingToFold: '압축할 내용이 없습니다. 최근 메시지는 그대로 둡니다.',
  notArmed: '압축할 내용이 없습니다. 지난 압축 이후 추가된 내용이 적습니다.',
  paused: '압축을 잠시 쉽니다. 전체 기록을 그대로 사용합니다.',
  waitsForUser:
    '압축이 대기 중입니다. 사용자 한 명의 하루 비용 한도를 다 썼습니다. 다음 날 저절로 이어집니다. 전체 기록을 그대로 사용합니다.',
  waitsForAll:
    '압축이 대기 중입니다. 서비스의 하루 예산을 다 썼습니다. 다음 날 저절로 이어집니다. 전체 기록을 그대로 사용합니다.',
  vetoed: '앱이 지금은 압축하지 않기로 했습니다. 전체 기록을 그대로 사용합니다.',
  truncated: '긴 도구 출력을 {before}토큰에서 {after}토큰으로 줄였습니다.',
  notBeneficial: '이 크기에서는 압축해도 이점이 없습니다. 전체 기록을 그대로 사용합니다.',
  notReduced: '압축해도 크기가 줄지 않았습니다. 전체 기록을 그대로 사용합니다.',
  notCounted: '토큰 수를 셀 수 없었습니다. 바뀐 것은 없습니다.',
  emptySummary: '요약이 비어 있었습니다. 바뀐 것은 없습니다.',
  notVerified: '요약이 검사를 통과하지 못했습니다. 바뀐 것은 없습니다.',
  failed: '압축하지 못했습니다. 바뀐 것은 없습니다.',
  turnTooLarge: '요약하기에 너무 큰 메시지가 있습니다. 전체 기록을 그대로 사용합니다.',
  aborted: '압축을 중단했습니다. 바뀐 것은 없습니다.',
  superseded: '그사이 대화가 바뀌었습니다. 교체된 것은 없습니다.',
  restored: '이전 상태의 기록({after}토큰)을 다시 사용합니다.',
  changed: '메시지가 바뀌거나 삭제되어 기록에 반영했습니다.',
};

const ja: OutcomeTexts = {
  onItsWay: '履歴を圧縮しています。その間も会話を続けられます。',
  compacted: '履歴を{before}トークンから{after}トークンに圧縮しました。',
  nothingToDo: '圧縮するものはありません。',
  belowThreshold: '圧縮するものはありません。会話（{before}トークン）はしきい値未満です。',
  tooShort: '圧縮するものはありません。会話はまだ短いです。',
  nothingToFold: '圧縮するものはありません。最新のメッセージはそのまま残ります。',
  notArmed: '圧縮するものはありません。前回の圧縮からの追加がわずかです。',
  paused: '圧縮をしばらく休止します。履歴全体をそのまま使います。',
  waitsForUser:
    '圧縮は待機中です。ユーザー1人の1日の費用の上限に達しました。翌日に自動で再開します。履歴全体をそのまま使います。',
  waitsForAll:
    '圧縮は待機中です。サービスの1日の予算に達しました。翌日に自動で再開します。履歴全体をそのまま使います。',
  vetoed: 'アプリが今は圧縮しないことを選びました。履歴全体をそのまま使います。',
  truncated: '長いツール出力を{before}トークンから{after}トークンに短縮しました。',
  notBeneficial: 'この大きさでは圧縮しても効果がありません。履歴全体をそのまま使います。',
  notReduced: '圧縮しても小さくなりませんでした。履歴全体をそのまま使います。',
  notCounted: 'トークン数を数えられませんでした。変更はありません。',
  emptySummary: '要約が空でした。変更はありません。',
  notVerified: '要約が検査を通りませんでした。変更はありません。',
  failed: '圧縮できませんでした。変更はありません。',
  turnTooLarge: '大きすぎて要約できないメッセージがあります。履歴全体をそのまま使います。',
  aborted: '圧縮を中止しました。変更はありません。',
  superseded: 'その間に会話が変わりました。置き換えたものはありません。',
  restored: '以前の状態の履歴（{after}トークン）を再び使っています。',
  changed: 'メッセージの変更または削除を履歴に反映しました。',
};

const textsByLanguage: ReadonlyMap<string, OutcomeTexts> = new Map([
  ['en', en],
  ['ko', ko],
  ['ja', ja],
]);

/** The sentences for a BCP 47 tag (`ko-KR`); English for languages without a translation. */
export function outcomeTexts(locale: string | undefined): {
  language: string;
  texts: OutcomeTexts;
} {
  const language = (locale ?? '').split(/[-_]/)[0]?.toLowerCase() ?? '';
  const texts = textsByLanguage.get(language);
  return texts === undefined ? { language: 'en', texts: en } : { language, texts };
}
