// All texts of the console, in English and Chinese, and which of the two is shown.

const LANGUAGES = ["en", "zh"];
const STORED = "laud-language";

/** @type {Record<string, [string, string]>} */
const texts = {
  // The frame
  skip: ["Skip to the content", "跳到内容"],
  navigation: ["Pages", "页面"],
  overview: ["Overview", "概览"],
  boards: ["Leaderboards", "排行榜"],
  lookup: ["Look up", "查询"],
  moderation: ["Moderation", "审核"],
  server: ["Server", "服务器"],
  language: ["Language", "语言"],
  token: ["Token", "令牌"],
  token_title: ["This server requires a token", "此服务器需要令牌"],
  token_text: [
    "The token is kept for this tab only, and forgotten when the tab is closed. What you see depends on its role.",
    "令牌只保存在此标签页中，关闭标签页后即被清除。可见内容取决于令牌的角色。",
  ],
  token_wrong: ["The server does not know this token.", "服务器不认识此令牌。"],
  use: ["Use", "使用"],
  forget_token: ["Forget it", "清除"],
  cancel: ["Cancel", "取消"],
  nothing_here: ["There is no such page.", "没有此页面。"],
  no_answer: ["The server does not answer. Trying again.", "服务器没有响应，正在重试。"],
  failed: ["{0}", "{0}"],
  loading: ["Loading", "加载中"],
  more: ["More", "更多"],
  none: ["None.", "无。"],
  needs_admin: ["This needs an admin's token for all types.", "需要适用于所有类型的管理员令牌。"],
  needs_role: ["This token's role is too low for this.", "此令牌的角色权限不足。"],
  time: ["Time", "时间"],
  yes: ["yes", "是"],
  no: ["no", "否"],

  // Overview
  per_second: ["{0}/s", "{0}/秒"],
  operations: ["Operations a second", "每秒操作数"],
  errors: ["Errors a second", "每秒错误数"],
  latency: ["Latency", "延迟"],
  run_p50: ["run p50", "执行 p50"],
  run_p99: ["run p99", "执行 p99"],
  wait_p50: ["wait for the journal p50", "等待日志 p50"],
  wait_p99: ["wait for the journal p99", "等待日志 p99"],
  latency_p99: ["p99 of operations", "操作 p99 延迟"],
  lag: ["Lag of the store", "存储滞后"],
  memory: ["Memory", "内存"],
  memory_data: ["data and program", "数据与程序"],
  memory_filters: ["filters", "过滤器"],
  memory_boards: ["boards", "榜单"],
  memory_connections: ["connections", "连接"],
  memory_store: ["store", "存储"],
  connections: ["Connections", "连接数"],
  uptime: ["Running for", "运行时间"],
  of: ["{0} of {1}", "{0} / {1}"],
  other: ["other", "其他"],
  hot_items: ["Hottest items now", "当前最热条目"],
  hot_users: ["Most active users now", "当前最活跃用户"],
  item: ["Item", "条目"],
  user: ["User", "用户"],
  uses: ["Uses a second", "每秒使用次数"],
  journal: ["Journal", "日志"],
  store: ["Store", "存储"],
  state: ["State", "状态"],
  durability: ["Durability", "持久性"],
  size: ["Size", "大小"],
  segments: ["Segments", "段"],
  events: ["Events", "事件"],
  events_rate: ["Events a second", "每秒事件数"],
  sync_time: ["Mean time of a sync", "平均同步时间"],
  disk: ["On disk", "磁盘占用"],
  reactions: ["Reactions", "反应"],
  merges: ["Merges running", "正在合并"],
  lag_bytes: ["Lag in bytes", "滞后字节数"],
  lag_events: ["Lag in events", "滞后事件数"],
  checkpoints: ["Checkpoints", "检查点"],
  takes_writes: ["Takes writes", "可写入"],
  refuses_writes: ["Refuses writes: {0}", "拒绝写入：{0}"],
  first_like: ["A first like", "第一个点赞"],
  first_like_text: [
    "Nothing was counted yet. This sends a like of user 1 for video 42:",
    "还没有任何计数。下面的命令让用户 1 点赞视频 42：",
  ],

  // Leaderboards
  type: ["Type", "类型"],
  counter: ["Counter", "计数器"],
  window: ["Time", "时间段"],
  window_all: ["all time", "全部"],
  window_hour: ["last hour", "最近一小时"],
  window_day: ["last day", "最近一天"],
  window_week: ["last week", "最近一周"],
  rank: ["Rank", "名次"],
  value: ["Value", "数值"],
  board_of: ["{0} by {1}, {2}", "{0} 按 {1}，{2}"],
  show: ["Show", "显示"],

  // Items and users
  item_label: ["Item, as type:id", "条目，格式为 type:id"],
  user_label: ["User id", "用户编号"],
  look_item: ["Look up an item", "查询条目"],
  look_user: ["Look up a user", "查询用户"],
  find: ["Find", "查找"],
  item_title: ["Item {0}", "条目 {0}"],
  user_title: ["User {0}", "用户 {0}"],
  counters: ["Counters", "计数器"],
  who_reacted: ["Who reacted", "谁做出了反应"],
  reacted_to: ["Reacted to", "反应过的条目"],
  kind: ["Kind", "种类"],
  list_users: ["Users with {0} on {1}, newest first", "对 {1} 有 {0} 的用户，最新在前"],
  list_items: ["{1} with {0} by this user, newest first", "此用户有 {0} 的 {1}，最新在前"],

  // Comments
  comments: ["Comments", "评论"],
  order: ["Order", "排序"],
  by_top: ["top", "最多赞"],
  by_new: ["newest", "最新"],
  by_old: ["oldest", "最早"],
  by_best: ["best", "最佳"],
  by_hot: ["hot", "热门"],
  by_controversial: ["controversial", "有争议"],
  written: ["Comments of this user", "此用户的评论"],
  inbox: ["Inbox ({0} unread)", "收件箱（{0} 条未读）"],
  inbox_reply: ["{0} replied", "{0} 回复了"],
  inbox_mention: ["{0} mentioned the user", "{0} 提到了此用户"],
  floor: ["#{0}", "{0} 楼"],
  edited: ["edited", "已编辑"],
  pinned: ["pinned", "已置顶"],
  no_text: ["The text is not shown.", "内容不显示。"],
  state_visible: ["visible", "可见"],
  state_pending: ["pending", "待审核"],
  state_hidden: ["hidden", "已隐藏"],
  state_shadow: ["shadow", "仅作者可见"],
  state_deleted: ["deleted", "已删除"],
  state_reported: ["reported", "被举报"],
  answers: ["in reply to {0}", "回复 {0}"],
  replies: ["Replies", "回复"],
  replies_more: ["All replies", "全部回复"],
  comment: ["Comment", "评论"],
  comment_not_shown: ["This comment does not exist, or not everybody may see it.", "此评论不存在，或并非对所有人可见。"],
  no_comments: ["This server has no comments: it is of an earlier version.", "此服务器没有评论功能：版本较旧。"],
  comments_need_store: [
    "Comments need the store, and this server runs without one.",
    "评论需要存储，而此服务器未启用存储。",
  ],
  nobody: ["somebody who was forgotten", "已注销的用户"],
  show_all: ["Also what is not public (for moderators)", "包括未公开内容（需审核员权限）"],
  actions_on: ["Actions on {0}", "对 {0} 的操作"],
  pins: ["Pinned", "置顶数"],
  approve: ["Approve", "通过"],
  hide: ["Hide", "隐藏"],
  pin: ["Pin", "置顶"],
  unpin: ["Unpin", "取消置顶"],
  done: ["Done: {0}", "完成：{0}"],
  queue: ["Queue", "队列"],
  queue_of: ["{0} comments on {1}", "{1} 的{0}评论"],
  subject: ["Subject settings", "评论区设置"],
  owner: ["Owner", "所有者"],
  mode: ["Mode", "模式"],
  mode_open: ["open", "开放"],
  mode_held: ["held: new comments wait for approval", "先审后发"],
  mode_readonly: ["read-only", "只读"],
  mode_closed: ["closed", "关闭"],
  roots: ["Listed roots", "主评论数"],
  save: ["Save", "保存"],
  ban: ["Ban", "封禁"],
  ban_title: ["Ban this user from commenting", "禁止此用户评论"],
  ban_until: ["Until (empty: for ever)", "直到（留空：永久）"],
  ban_shadow: ["Shadow: the user does not notice", "影子封禁：用户不会察觉"],
  unban: ["Lift the ban", "解除封禁"],

  // Server
  checks: ["Checks", "检查"],
  check: ["Check", "检查项"],
  result: ["Result", "结果"],
  details: ["Details", "详情"],
  good: ["good", "正常"],
  attention: ["attention", "注意"],
  check_ready: ["Takes writes", "可写入"],
  check_journal: ["Journal", "日志"],
  check_clock: ["Clock", "时钟"],
  check_projector: ["Projector", "投影器"],
  check_store: ["Store", "存储"],
  check_filters: ["Filters", "过滤器"],
  check_boards: ["Boards", "榜单"],
  check_trends: ["Windowed boards", "时间段榜单"],
  check_limits: ["Refused by limits", "被限流拒绝"],
  check_offline: [
    "These are the checks of the running server. The command laud check verifies all data on disk, while no server uses it.",
    "以上是运行中服务器的检查。命令 laud check 可在没有服务器使用数据目录时校验磁盘上的全部数据。",
  ],
  filters_open: ["a filter had no memory to grow, so the store is asked more often", "过滤器内存不足，更多请求需要读取存储"],
  not_exact: ["not exact: wrong by at most {0}", "不精确：误差最多 {0}"],
  boards_off: ["{0} boards are not kept", "{0} 个榜单未保留"],
  exact: ["exact", "精确"],
  refused_since: ["{0} since the start", "启动以来 {0}"],
  without: ["the server runs without it", "服务器未启用"],
  slow: ["Slow operations", "慢操作"],
  took: ["Took", "耗时"],
  command: ["Command", "命令"],
  client: ["Client", "客户端"],
  numbers: ["All numbers", "全部数值"],
  name: ["Name", "名称"],
};

function stored() {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null; // the browser keeps nothing
  }
}

let current = stored() ?? (navigator.language.startsWith("zh") ? "zh" : "en");

export const language = () => current;

/** @param {string} chosen */
export function choose(chosen) {
  current = LANGUAGES.includes(chosen) ? chosen : "en";
  try {
    localStorage.setItem(STORED, current);
  } catch {
    // then it is for this page only
  }
}

/**
 * A text in the chosen language. {0} and {1} are replaced.
 * @param {string} key @param {...(string | number)} values
 */
export function t(key, ...values) {
  const text = texts[key]?.[current === "zh" ? 1 : 0];
  if (text === undefined) throw new Error(`there is no text ${key}`);
  return text.replace(/\{(\d)\}/g, (_, i) => String(values[Number(i)] ?? ""));
}
