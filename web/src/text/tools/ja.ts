import type { FindingTexts } from '#web/panes/faults/finding.ts';
import type { ToolTexts } from './en.ts';

const yesNo = (value: boolean): string => (value ? 'はい' : 'いいえ');

const refusals: FindingTexts['quota'] = ({ met, calls, turns, isAnswered }, { count }) => {
  const end = isAnswered ? `${count(calls)} 回目の呼び出しで回答` : '回答なし';
  return `拒否 ${count(met)} 回、${end}、ターン ${count(turns)} 件`;
};

const findings: FindingTexts = {
  drop: ({ cutAfter, resumedAt, repeated, isSameText }, { count }) => {
    if (resumedAt === undefined) return '切断の後、ストリームは再開されませんでした';
    const text = isSameText ? '保存された回答と同じ文です' : '保存された回答と違う文です';
    const again = repeated > 0 ? `。${count(repeated)} 件のイベントが重複しました` : '';
    return `イベント ${cutAfter ?? '–'} の後で切断、${resumedAt} から再開。${text}${again}`;
  },
  resend: ({ sends, turns, answers, calls }, { count }) => {
    const called = calls === undefined ? '' : `、モデル呼び出し ${count(calls)} 回`;
    return `送信 ${count(sends)} 回、ターン ${count(turns)} 件、回答 ${count(answers)} 種類${called}`;
  },
  killChat: ({ turns, attempts, isAnswered, afterMs }, { count, duration }) => {
    const end = isAnswered ? `終了から ${duration(afterMs)} 後に回答` : '回答なし';
    return `ターン ${count(turns)} 件、${end}、試行 ${count(attempts)} 回目`;
  },
  killWorker: ({ swaps, missing, afterMs }, { count, duration }) =>
    `作業中に強制終了。切り替え ${count(swaps)} 回、終了から ${duration(afterMs)} 後。失われたメッセージ ${count(missing)} 件`,
  quota: refusals,
  unavailable: refusals,
  safety: ({ isKept, isInContext, isNextAnswered }) =>
    `記録に残る：${yesNo(isKept)}、モデルに見える：${yesNo(isInContext)}、次のメッセージに回答：${yesNo(isNextAnswered)}`,
  redeliver: ({ deliveries, acknowledged, swaps }, { count }) =>
    `再配信 ${count(deliveries)} 回、受領 ${count(acknowledged)} 回、切り替えは全部で ${count(swaps)} 回`,
  inventive: ({ figures, marked, unmarked }, { count }) => {
    const list = unmarked.length === 0 ? 'なし' : unmarked.slice(0, 5).join('、');
    return `誰も述べていないとして印を付けた値 ${count(marked)} 個。要約の数 ${count(figures)} 個のうち誰も述べておらず印もないもの：${list}`;
  },
  threshold: ({ state, turnsFolded, reason }, { count }) =>
    state === undefined
      ? '何も起こりませんでした'
      : `${state}${reason === undefined ? '' : `（${reason}）`}、畳まれたターン ${count(turnsFolded)} 件`,
};

export const ja: ToolTexts = {
  faults: {
    intro: '障害は専用の会話で実際に起こされ、その後の公開 API の答えで判定されます。',
    absent: 'ここにはスーパーバイザーがありません。障害はローカル環境（npm start）で起こせます。',
    run: '実行',
    runAll: 'すべて実行',
    stop: '中止',
    reset: 'リセット',
    running: (elapsed) => `実行中（${elapsed}）…`,
    mustHold: '守られること',
    notHere:
      'ここではできません。関数とデータが同じプロセスにあります。エミュレーターで起動してください。',
    noStandIn: 'ここではできません。本物のモデルは指示を受けません。',
    failed: (problem) => `試せませんでした：${problem}`,
    took: (elapsed) => `${elapsed} 後`,
    sum: (held, judged) => `${judged} 件中 ${held} 件が守られました`,
    armed: (count) => `待機中のモデルの拒否：${count} 件`,
    outcome: { held: '守られた', broken: '破られた', unclear: '不明' },
    findings,
    names: {
      drop: {
        title: 'ストリームを切断',
        does: '回答の途中で接続をリセットします。',
        holds: 'ストリームはどのイベントの後からでも、続きだけを届けます。',
      },
      resend: {
        title: '5 回送信',
        does: '同じメッセージを同時に 5 回送ります。',
        holds: '一つのメッセージ ID は一つのターン、一つの回答、一回のモデル呼び出しです。',
      },
      killChat: {
        title: 'chat を強制終了',
        does: '回答中の chat 関数を強制終了（SIGKILL）します。',
        holds: 'メッセージはモデルを呼ぶ前に保存され、回答を得ます。',
      },
      killWorker: {
        title: 'ワーカーを強制終了',
        does: '要約中の compaction 関数を強制終了（SIGKILL）します。三十秒ほどかかります。',
        holds: '別のワーカーが一度だけ仕事を終え、メッセージは失われません。',
      },
      quota: {
        title: 'モデル：429',
        does: 'モデルが 2 回拒否します（リクエスト過多）。',
        holds: 'もう一度尋ねられ、利用者は一つの回答を得ます。',
      },
      unavailable: {
        title: 'モデル：503',
        does: 'モデルが 2 回拒否します（利用不可）。',
        holds: 'もう一度尋ねられ、利用者は一つの回答を得ます。',
      },
      safety: {
        title: 'モデル：SAFETY',
        does: 'モデルの安全フィルターが回答を止めます。',
        holds: 'メッセージは記録に残り、コンテキストからは外れ、会話は続きます。',
      },
      redeliver: {
        title: '3 回再配信',
        does: 'コンパクションのイベントをさらに 3 回配信します。',
        holds: '世代は一度だけ作られ、どの配信も受領されます。',
      },
      inventive: {
        title: '作り話をする要約',
        does: '要約が数字を一つ変えます。',
        holds: 'どのメッセージにもない長い数は、印（⁇）なしでは要約に入りません。',
      },
      threshold: {
        title: 'しきい値を下げる',
        does: 'しきい値を会話の今の大きさより低くします。',
        holds: 'しきい値を超えると、コンパクションされるか、理由が記録されます。',
      },
    },
  },
  wire: {
    frames: 'ストリームのイベント',
    requests: 'ページのリクエスト',
    noFrames: 'まだイベントがありません。メッセージを送ってください。',
    noRequests: 'まだリクエストがありません。',
    columns: { id: 'id', at: 'ms', type: '種類', size: 'バイト' },
    stream: (path) => `${path} のストリーム`,
    copy: 'curl としてコピー',
    copied: 'コピーしました',
    notCopied: 'ブラウザーがコピーを許可しませんでした。次の文を選択してください：',
    tokenHint: 'トークンは含まれません。コマンドは npm start が表示する $RECAP_TOKEN を使います。',
    noAnswer: '応答なし',
    underWay: '…',
    compare: 'プロトコルを比べる',
    compareTitle: '一つのメッセージ、四つのプロトコル',
    compareHint: '同じ ID の同じメッセージをそれぞれで送ります。ターンも回答も一つです。',
    compareText: 'メッセージ',
    compareDefault: '注文4417はチューリップ20本、16時45分に受け取ります。',
    compareRun: '四つすべてで送る',
    close: '閉じる',
    facades: { recap: 'Recap', aiSdk: 'AI SDK', openAi: 'OpenAI', callable: 'Firebase callable' },
    turns: (turns) => `ターン ${turns}`,
  },
  player: {
    intro: '記録された会話の利用者の言葉を、新しい会話に一つずつ送ります。モデルは改めて答えます。',
    sample: '会話の記録',
    samples: { garden: '市民農園（英語）', journey: '京都への旅（日本語）' },
    file: 'またはファイル（JSON Lines）',
    conversation: '会話',
    threshold: 'コンパクションするトークン数',
    gap: 'メッセージの間隔',
    play: '再生',
    pause: '一時停止',
    resume: '続ける',
    stop: '停止',
    progress: (position, total) => `${total} 件中 ${position} 件`,
    compactions: (count) => `コンパクション：${count} 回`,
    unreadable: (line) =>
      `${line} 行目は会話の記録ではありません：{"id","turns":[{"role","parts":[{"text"}]}]}`,
    empty: 'このファイルには利用者のメッセージのある会話がありません。',
    tooLarge: (limit) => `ファイルが ${limit} バイトを超えています。`,
    state: {
      idle: '',
      playing: '再生中',
      paused: '一時停止中',
      ended: '最後まで送りました。',
      stopped: '停止しました',
      left: '停止：別の会話が表示されています。',
      failed: '停止：回答のないメッセージがありました。',
    },
  },
};
