/** Sentences that say nothing of what was said, by language. */
interface NoticeTexts {
  done: string;
  failed: string;
}

const en: NoticeTexts = {
  done: 'Your answer is ready.',
  failed: 'Your message could not be answered. Open the chat to try again.',
};

const textsByLanguage: ReadonlyMap<string, NoticeTexts> = new Map([
  ['en', en],
  [
    'ja',
    {
      done: '回答ができました。',
      failed: 'メッセージに回答できませんでした。チャットを開いてもう一度お試しください。',
    },
  ],
  [
    'ko',
    {
      done: '답변이 준비되었습니다.',
      failed: '메시지에 답변하지 못했습니다. 채팅을 열어 다시 시도해 주세요.',
    },
  ],
  ['zh', { done: '您的回答已准备好。', failed: '未能回答您的消息。请打开聊天重试。' }],
  [
    'de',
    {
      done: 'Die Antwort ist da.',
      failed:
        'Die Nachricht konnte nicht beantwortet werden. Öffne den Chat, um es noch einmal zu versuchen.',
    },
  ],
  [
    'es',
    {
      done: 'Tu respuesta está lista.',
      failed: 'No se pudo responder a tu mensaje. Abre el chat para intentarlo de nuevo.',
    },
  ],
  [
    'fr',
    {
      done: 'Votre réponse est prête.',
      failed: 'Votre message est resté sans réponse. Ouvrez la discussion pour réessayer.',
    },
  ],
  [
    'pt',
    {
      done: 'Sua resposta está pronta.',
      failed: 'Não foi possível responder à sua mensagem. Abra o chat para tentar de novo.',
    },
  ],
]);

/** The sentences for a BCP 47 tag (`ko-KR`); English for languages without a translation. */
export const noticeTexts = (locale: string | undefined): NoticeTexts =>
  textsByLanguage.get((locale ?? '').split(/[-_]/)[0]?.toLowerCase() ?? '') ?? en;
