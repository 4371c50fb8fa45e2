// The texts of the widgets, in English and Chinese.
import type { LaudError } from "../errors.js";

const texts = {
  like: ["Like", "点赞"],
  liked: ["Liked", "已点赞"],
  comments: ["{0} comments", "{0} 条评论"],
  comment_one: ["1 comment", "1 条评论"],
  order: ["Order", "排序"],
  by_top: ["Top", "最热"],
  by_new: ["Newest", "最新"],
  by_old: ["Oldest", "最早"],
  by_best: ["Best", "最佳"],
  by_hot: ["Hot", "热门"],
  by_controversial: ["Controversial", "有争议"],
  write: ["Write a comment", "写评论"],
  write_hint: ["Markdown: **bold**, *italic*, `code`, > quotation, [link](https://…)", "支持 Markdown：**粗体**、*斜体*、`代码`、> 引用、[链接](https://…)"],
  reply_to: ["Reply to {0}", "回复 {0}"],
  post: ["Post", "发布"],
  save: ["Save", "保存"],
  cancel: ["Cancel", "取消"],
  reply: ["Reply", "回复"],
  edit: ["Edit", "编辑"],
  delete: ["Delete", "删除"],
  delete_sure: ["Delete it for good?", "确定永久删除？"],
  report: ["Report", "举报"],
  reported: ["Reported", "已举报"],
  more: ["More comments", "更多评论"],
  more_replies: ["Show {0} more replies", "展开其余 {0} 条回复"],
  more_reply: ["Show 1 more reply", "展开其余 1 条回复"],
  show_new: ["Show {0} new comments", "显示 {0} 条新评论"],
  show_new_one: ["Show 1 new comment", "显示 1 条新评论"],
  show_all: ["Show all comments", "显示全部评论"],
  none: ["No comments yet.", "还没有评论。"],
  loading: ["Loading …", "加载中…"],
  again: ["Try again", "重试"],
  login: ["Log in to comment", "登录后评论"],
  user: ["User {0}", "用户 {0}"],
  nobody: ["Somebody", "某用户"],
  answers: ["to {0}", "回复 {0}"],
  edited: ["edited", "已编辑"],
  pinned: ["Pinned", "置顶"],
  owner: ["Author", "作者"],
  owner_liked: ["Liked by the author", "作者赞过"],
  you: ["You", "我"],
  pending: ["Waiting for approval. Only you see it.", "等待审核，仅自己可见。"],
  hidden: ["Hidden by a moderator.", "已被管理员隐藏。"],
  deleted: ["This comment was deleted.", "该评论已删除。"],
  too_long: ["The text is too long: {0} of {1} bytes.", "内容过长：{0} / {1} 字节。"],
  readonly: ["No new comments are accepted here.", "此处暂不接受新评论。"],
  closed: ["The comments are closed.", "评论已关闭。"],
  banned: ["You may not write comments at present.", "你目前不能发表评论。"],
  repeated: ["You have just posted the same text.", "你刚刚发布过相同的内容。"],
  limited: ["Too fast. Try again in a moment.", "操作太快，请稍后再试。"],
  gone: ["This comment is not there any more.", "该评论已不存在。"],
  network: ["The server cannot be reached. Nothing is lost, try again.", "无法连接服务器，内容未丢失，请重试。"],
} satisfies Record<string, [string, string]>;

export type TextKey = keyof typeof texts;
export type Translate = (key: TextKey, ...values: Array<string | number>) => string;

export type Language = "en" | "zh";

/** The language of an element: its own `lang`, that of the page around it, or the browser's. */
export function languageOf(element: Element): Language {
  const named = element.closest("[lang]")?.getAttribute("lang") || navigator.language;
  return named.toLowerCase().startsWith("zh") ? "zh" : "en";
}

export function translator(language: Language): Translate {
  return (key, ...values) =>
    texts[key][language === "zh" ? 1 : 0].replace(/\{(\d)\}/g, (_, i) => String(values[Number(i)] ?? ""));
}

const KEY_OF: Record<string, TextKey> = {
  BANNED: "banned",
  SUBJECT_READONLY: "readonly",
  SUBJECT_CLOSED: "closed",
  COMMENT_REPEATED: "repeated",
  COMMENT_DELETED: "gone",
  NO_COMMENT: "gone",
  LIMITED: "limited",
  NETWORK: "network",
  TIMEOUT: "network",
};

/** What a person is told about an error. Errors that only a developer can repair stay as they are. */
export function sentenceOf(error: LaudError, t: Translate): string {
  const key = KEY_OF[error.code];
  return key === undefined ? error.message : t(key);
}
