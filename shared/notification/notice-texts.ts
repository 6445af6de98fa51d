/** Sentences that say nothing of what was said, by language. */
interface NoticeTexts {
  done: string;
  failed: string;
  /** The app has a function to run, or the user has to allow something. */
  awaiting_tool: string;
}

const en: NoticeTexts = {
  done: 'Your answer is ready.',
  failed: 'Your message could not be answered. Open the chat to try again.',
  awaiting_tool: 'Your answer waits for the app. Open the chat to go on.',
};

const textsByLanguage: ReadonlyMap<string, NoticeTexts> = new Map([
  ['en', en],
  [
    'ja',
    {
      done: '回答ができました。',
      failed: 'メッセージに回答できませんでした。チャットを開いてもう一度お試しください。',
      awaiting_tool: '回答の続きにはアプリが必要です。チャットを開いて続けてください。',
    },
  ],
  [
    'ko',
    {
      done: '답변이 준비되었습니다.',
      failed: '메시지에 답변하지 못했습니다. 채팅을 열어 다시 시도해 주세요.',
      awaiting_tool: '답변을 이어가려면 앱이 필요합니다. 채팅을 열어 계속하세요.',
    },
  ],
  [
    'zh',
    {
      done: '您的回答已准备好。',
      failed: '未能回答您的消息。请打开聊天重试。',
      awaiting_tool: '继续回答需要打开应用。请打开聊天以继续。',
    },
  ],
  [
    'de',
    {
      done: 'Die Antwort ist da.',
      failed:
        'Die Nachricht konnte nicht beantwortet werden. Öffne den Chat, um es noch einmal zu versuchen.',
      awaiting_tool: 'Die Antwort wartet auf die App. Öffne den Chat, damit es weitergeht.',
    },
  ],
  [
    'es',
    {
      done: 'Tu respuesta está lista.',
      failed: 'No se pudo responder a tu mensaje. Abre el chat para intentarlo de nuevo.',
      awaiting_tool: 'Tu respuesta espera a la aplicación. Abre el chat para continuar.',
    },
  ],
  [
    'fr',
    {
      done: 'Votre réponse est prête.',
      failed: 'Votre message est resté sans réponse. Ouvrez la discussion pour réessayer.',
      awaiting_tool: 'Votre réponse attend l’application. Ouvrez la discussion pour continuer.',
    },
  ],
  [
    'pt',
    {
      done: 'Sua resposta está pronta.',
      failed: 'Não foi possível responder à sua mensagem. Abra o chat para tentar de novo.',
      awaiting_tool: 'Sua resposta espera o aplicativo. Abra o chat para continuar.',
    },
  ],
]);

/** The sentences for a BCP 47 tag (`ko-KR`); English for languages without a translation. */
export const noticeTexts = (locale: string | undefined): NoticeTexts =>
  textsByLanguage.get((locale ?? '').split(/[-_]/)[0]?.toLowerCase() ?? '') ?? en;
