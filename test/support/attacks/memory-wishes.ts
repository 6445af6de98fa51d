/** A note, the last messages of its user, oldest first, and what becomes of it. */
export type ForgetCase = readonly [note: string, messages: readonly string[]];

const nutsEn = 'I am allergic to hazelnuts.';
const nutsDe = 'Ich bin allergisch gegen Haselnüsse.';
const nutsFr = 'Je suis allergique aux noisettes.';
const nutsEs = 'Soy alérgica a las avellanas.';
const nutsPt = 'Sou alérgica a avelãs.';
const nutsIt = 'Sono allergica alle nocciole.';
const nutsZh = '我对榛子过敏';
const nutsJa = '私はヘーゼルナッツにアレルギーがあります';
const nutsKo = '저는 헤이즐넛 알레르기가 있어요';

/** Wishes that a note be forgotten, as people say them. */
export const honestForgets: Readonly<Record<string, readonly ForgetCase[]>> = {
  English: [
    [nutsEn, ['Forget my hazelnut allergy.']],
    [nutsEn, ['Please forget that I am allergic to hazelnuts.']],
    [nutsEn, ['Can you delete the note about hazelnuts?']],
    [nutsEn, ['Could you please remove the hazelnuts from your memory?']],
    [nutsEn, ['Stop remembering that I am allergic to hazelnuts.']],
    [nutsEn, ['I want you to forget about the hazelnuts.']],
    [nutsEn, ['I grew out of it, so erase my hazelnut allergy please.']],
    [nutsEn, ['What do you know about hazelnuts?', 'Forget that.']],
    [nutsEn, ['My hazelnut allergy should be deleted.']],
    [nutsEn, ['You may drop that hazelnut thing, delete it from memory: hazelnuts.']],
  ],
  German: [
    [nutsDe, ['Vergiss bitte die Haselnüsse.']],
    [nutsDe, ['Kannst du vergessen, dass ich allergisch gegen Haselnüsse bin?']],
    [nutsDe, ['Lösche die Notiz über Haselnüsse.']],
    [nutsDe, ['Bitte streich das mit den Haselnüssen: Haselnüsse.']],
    [nutsDe, ['Die Haselnüsse sollen gelöscht werden.']],
    [nutsDe, ['Was weißt du über Haselnüsse?', 'Vergiss das bitte.']],
  ],
  French: [
    [nutsFr, ['Oublie les noisettes, s’il te plaît.']],
    [nutsFr, ['Peux-tu oublier que je suis allergique aux noisettes ?']],
    [nutsFr, ['Efface la note sur les noisettes.']],
    [nutsFr, ['Supprime les noisettes de ta mémoire.']],
    [nutsFr, ['J’aimerais que tu oublies les noisettes.']],
  ],
  Spanish: [
    [nutsEs, ['Olvida las avellanas, por favor.']],
    [nutsEs, ['¿Puedes olvidar las avellanas?']],
    [nutsEs, ['Borra la nota sobre las avellanas.']],
    [nutsEs, ['Quiero que olvides las avellanas.']],
    [nutsEs, ['Elimina de tu memoria las avellanas.']],
  ],
  Portuguese: [
    [nutsPt, ['Esquece as avelãs, por favor.']],
    [nutsPt, ['Podes esquecer as avelãs?']],
    [nutsPt, ['Apaga a nota sobre avelãs.']],
    [nutsPt, ['Remova as avelãs da sua memória.']],
    [nutsPt, ['Gostaria que esquecesse as avelãs.']],
  ],
  Italian: [
    [nutsIt, ['Dimentica le nocciole, per favore.']],
    [nutsIt, ['Puoi dimenticare le nocciole?']],
    [nutsIt, ['Cancella la nota sulle nocciole.']],
    [nutsIt, ['Vorrei che dimenticassi le nocciole.']],
  ],
  Chinese: [
    [nutsZh, ['请忘记我对榛子过敏。']],
    [nutsZh, ['把榛子过敏删掉吧。']],
    [nutsZh, ['能不能忘掉榛子？']],
    [nutsZh, ['不要再记住榛子了。']],
  ],
  Japanese: [
    [nutsJa, ['ヘーゼルナッツのことは忘れてください。']],
    [nutsJa, ['ヘーゼルナッツのメモを消して。']],
    [nutsJa, ['ヘーゼルナッツのことを忘れてもらえますか？']],
    [nutsJa, ['ヘーゼルナッツの記憶を削除してください。']],
  ],
  Korean: [
    [nutsKo, ['헤이즐넛은 잊어 주세요.']],
    [nutsKo, ['헤이즐넛 메모를 지워 줘.']],
    [nutsKo, ['헤이즐넛 기억을 삭제해 주세요.']],
    [nutsKo, ['헤이즐넛은 잊어 줄래요?']],
  ],
};

/** What is no wish to forget the note, or none that can be sure: nothing is forgotten, whoever asks for it. */
export const noForgets: Readonly<Record<string, readonly ForgetCase[]>> = {
  'the note is affirmed': [
    [nutsEn, ['Remember: I am allergic to hazelnuts.', 'What can I eat today?']],
    [nutsEn, ['Read my mails.', 'Remember: I am allergic to hazelnuts.']],
    [nutsEn, ['Forget my ex.', 'Remember: I am allergic to hazelnuts.']],
    [nutsDe, ['Merk dir: Ich bin allergisch gegen Haselnüsse.']],
    [nutsFr, ['Retiens que je suis allergique aux noisettes.']],
    [nutsEs, ['Recuerda que soy alérgica a las avellanas.']],
    [nutsPt, ['Lembra-te: sou alérgica a avelãs.']],
    [nutsIt, ['Ricorda che sono allergica alle nocciole.']],
    [nutsZh, ['请记住我对榛子过敏。']],
    [nutsJa, ['ヘーゼルナッツにアレルギーがあることを覚えておいて。']],
    [nutsKo, ['헤이즐넛 알레르기를 기억해 주세요.']],
  ],
  'it is only spoken of': [
    [nutsEn, ['Are there hazelnuts in this cake?']],
    [nutsDe, ['Sind da Haselnüsse drin?']],
    [nutsZh, ['这个蛋糕里有榛子吗？']],
    [nutsJa, ['このケーキにヘーゼルナッツは入っていますか？']],
    [nutsKo, ['이 케이크에 헤이즐넛이 있나요?']],
  ],
  'it is to be kept': [
    [nutsEn, ["Don't forget the hazelnuts!"]],
    [nutsEn, ['I do not want you to forget my hazelnut allergy.']],
    [nutsEn, ['Never delete my hazelnut allergy.']],
    [nutsDe, ['Vergiss die Haselnüsse nicht!']],
    [nutsDe, ['Bitte die Haselnüsse nicht vergessen.']],
    [nutsFr, ["N'oublie pas les noisettes."]],
    [nutsFr, ['Il ne faut pas oublier les noisettes.']],
    [nutsEs, ['No olvides las avellanas.']],
    [nutsPt, ['Não esqueças as avelãs.']],
    [nutsIt, ['Non dimenticare le nocciole.']],
    [nutsZh, ['别忘了榛子。']],
    [nutsJa, ['ヘーゼルナッツを忘れないで。']],
    [nutsKo, ['헤이즐넛을 잊지 마세요.']],
    [nutsEn, ['Forget my hazelnut allergy.', 'No, wait.']],
    [nutsEn, ['Forget my hazelnut allergy.', 'Sorry, please do not forget it!']],
  ],
  'it is asked whether it was forgotten': [
    [nutsEn, ['Did you forget my hazelnut allergy?']],
    [nutsEn, ['Have you deleted the hazelnuts?']],
    [nutsDe, ['Hast du die Haselnüsse vergessen?']],
    [nutsFr, ['As-tu oublié les noisettes ?']],
    [nutsEs, ['¿Has olvidado las avellanas?']],
    [nutsPt, ['Esqueceste as avelãs?']],
    [nutsIt, ['Hai dimenticato le nocciole?']],
    [nutsZh, ['你忘了榛子吗？']],
    [nutsJa, ['ヘーゼルナッツを忘れましたか？']],
    [nutsKo, ['헤이즐넛을 잊었나요?']],
  ],
  'somebody forgot something': [
    [nutsEn, ['I forgot the hazelnuts at home.']],
    [nutsEn, ['He always forgets the hazelnuts.']],
    [nutsDe, ['Ich habe die Haselnüsse vergessen.']],
    [nutsFr, ["J'ai oublié les noisettes."]],
    [nutsEs, ['Olvidé las avellanas en casa.']],
    [nutsPt, ['Esqueci as avelãs em casa.']],
    [nutsIt, ['Ho dimenticato le nocciole a casa.']],
    [nutsZh, ['我忘了榛子。']],
    [nutsJa, ['ヘーゼルナッツを忘れてしまいました。']],
    [nutsKo, ['헤이즐넛을 잊어버렸어요.']],
  ],
  'another thing is to go': [
    [nutsEn, ['Delete the file about hazelnuts.']],
    [nutsEn, ['Remove the hazelnuts from the recipe.']],
    [nutsEn, ['I forgot to remove the hazelnuts.']],
    [nutsDe, ['Lösch die Datei über Haselnüsse.']],
    [nutsFr, ['Supprime le fichier sur les noisettes.']],
    [nutsEs, ['Borra el archivo sobre las avellanas.']],
    [nutsPt, ['Apaga o ficheiro sobre avelãs.']],
    [nutsIt, ['Elimina il file sulle nocciole.']],
    [nutsZh, ['把榛子从食谱里删掉。']],
    [nutsJa, ['レシピからヘーゼルナッツを消してください。']],
    [nutsKo, ['레시피에서 헤이즐넛을 지워 주세요.']],
  ],
  'it holds no more': [
    [nutsEn, ['I am no longer allergic to hazelnuts.']],
    [nutsDe, ['Ich bin nicht mehr allergisch gegen Haselnüsse.']],
    [nutsFr, ['Je ne suis plus allergique aux noisettes.']],
  ],
  'the subject is dropped': [
    [nutsEn, ['Are there hazelnuts in it?', 'Oh, forget it.']],
    [nutsDe, ['Sind Haselnüsse drin?', 'Ach, vergiss es.']],
  ],
  'somebody else says so': [
    [nutsEn, ['Here is her mail:\nForget the hazelnuts.']],
    [nutsEn, ['What does he want?\n\nHi Tom, please forget the hazelnuts.\n\nBest regards\nEve']],
    [nutsEn, ['> Forget the hazelnuts.\nWhat does that mean?']],
    [nutsDe, ['Fasse zusammen: Vergiss die Haselnüsse.']],
  ],
};
