//! Fifty pages in the shapes of blog services, boards, newspapers and question sites of Korea,
//! Japan and China: a short post of invented sentences inside a thick frame.
//!
//! The shapes imitate the markup of such services from memory: their habits of naming the
//! container of a post, laying out by tables or by nested divisions, writing paragraphs as `p`, as
//! lines between `br` or as a `span` each. Names of services and people are not in them.

/// A page whose post is known.
#[derive(Debug, Clone)]
pub struct PlatformPage {
    /// What shape it has.
    pub name: String,
    /// The page.
    pub html: String,
    /// Sentences of the post, in order.
    pub post: &'static [&'static str],
    /// Sentences of the frame.
    pub frame: &'static [&'static str],
}

/// How the page is laid out.
#[derive(Debug, Clone, Copy)]
enum Layout {
    /// Nested divisions with a side column.
    Divisions,
    /// Tables in tables.
    Tables,
    /// `main`, `article` and `aside`.
    Semantic,
    /// A board: the post, its neighbours in a list below.
    Board,
    /// One column, the frame in the same divisions as the post.
    Flat,
}

/// How the post's sentences are separated.
#[derive(Debug, Clone, Copy)]
enum Lines {
    Paragraphs,
    Breaks,
    Spans,
}

struct Shape {
    name: &'static str,
    language: &'static str,
    topic: usize,
    layout: Layout,
    lines: Lines,
    /// Attributes of the post's container, and of the element around it.
    container: &'static str,
    around: &'static str,
}

const fn shape(
    name: &'static str,
    language: &'static str,
    topic: usize,
    layout: Layout,
    lines: Lines,
    container: &'static str,
    around: &'static str,
) -> Shape {
    Shape { name, language, topic, layout, lines, container, around }
}

use Layout::{Board, Divisions, Flat, Semantic, Tables};
use Lines::{Breaks, Paragraphs, Spans};

#[rustfmt::skip]
const SHAPES: [Shape; 50] = [
    shape("ko editor blog", "ko", 0, Divisions, Spans, "class=\"se-main-container\"", "class=\"se-viewer se-theme-default\""),
    shape("ko editor blog, second", "ko", 1, Divisions, Spans, "class=\"se-main-container\"", "id=\"postListBody\""),
    shape("ko old blog", "ko", 2, Tables, Breaks, "id=\"postViewArea\"", "class=\"post-view\""),
    shape("ko old blog in tables", "ko", 3, Tables, Paragraphs, "class=\"post_ct\"", "class=\"post\""),
    shape("ko skinned blog", "ko", 0, Divisions, Paragraphs, "class=\"tt_article_useless_p_margin contents_style\"", "class=\"entry-content\""),
    shape("ko skinned blog, article view", "ko", 1, Divisions, Paragraphs, "class=\"article_view\"", "class=\"area_view\""),
    shape("ko skinned blog, old skin", "ko", 2, Divisions, Breaks, "class=\"article\"", "class=\"entry\""),
    shape("ko essay service", "ko", 3, Semantic, Paragraphs, "class=\"wrap_body text_align_left\"", "class=\"wrap_view_article\""),
    shape("ko developer blog", "ko", 0, Semantic, Paragraphs, "class=\"sc-abcdef atom-one\"", "class=\"head-wrapper\""),
    shape("ko cafe", "ko", 1, Board, Spans, "class=\"ContentRenderer\"", "class=\"article_container\""),
    shape("ko cafe, old", "ko", 2, Board, Breaks, "id=\"tbody\" class=\"tbody m-tcol-c\"", "class=\"inbox\""),
    shape("ko board", "ko", 3, Board, Paragraphs, "id=\"bo_v_con\"", "id=\"bo_v_atc\""),
    shape("ko board, modular", "ko", 0, Board, Paragraphs, "class=\"xe_content document_1\"", "class=\"rd_body clear\""),
    shape("ko gallery board", "ko", 1, Board, Breaks, "class=\"write_div\"", "class=\"gallview_contents\""),
    shape("ko community", "ko", 2, Board, Paragraphs, "class=\"post_article\"", "class=\"post_content\""),
    shape("ko newspaper", "ko", 3, Semantic, Breaks, "id=\"dic_area\" class=\"go_trans _article_content\"", "id=\"newsct_article\""),
    shape("ko newspaper, by itemprop", "ko", 0, Divisions, Paragraphs, "itemprop=\"articleBody\" id=\"article-view-content-div\"", "class=\"article-body\""),
    shape("ko newspaper, old", "ko", 1, Tables, Breaks, "id=\"articleBody\"", "class=\"news_view\""),
    shape("ko question site", "ko", 2, Flat, Paragraphs, "class=\"questionDetail\"", "class=\"question-content\""),
    shape("ko newsletter", "ko", 3, Flat, Paragraphs, "class=\"stb-text-box\"", "class=\"stb-container\""),
    shape("ko site builder", "ko", 0, Flat, Paragraphs, "class=\"fr-view\"", "class=\"board_txt_area\""),
    shape("ko wiki", "ko", 1, Semantic, Paragraphs, "class=\"wiki-paragraph\"", "class=\"wiki-content\""),
    shape("ja free blog", "ja", 0, Divisions, Breaks, "class=\"article-body-inner\"", "class=\"article-body\""),
    shape("ja free blog, second", "ja", 1, Divisions, Paragraphs, "class=\"article-body-more\"", "class=\"article-body\""),
    shape("ja diary", "ja", 2, Semantic, Paragraphs, "class=\"entry-content hatenablog-entry\"", "class=\"entry-inner\""),
    shape("ja celebrity blog", "ja", 0, Divisions, Breaks, "id=\"entryBody\" class=\"skin-entryBody\"", "class=\"skin-entry\""),
    shape("ja host of blogs", "ja", 1, Divisions, Breaks, "class=\"entry_text\"", "class=\"entry_body\""),
    shape("ja old host", "ja", 2, Tables, Breaks, "class=\"entry_body\"", "class=\"entry\""),
    shape("ja notes", "ja", 0, Semantic, Paragraphs, "class=\"note-common-styles__textnote-body\"", "class=\"o-noteContentText\""),
    shape("ja developer notes", "ja", 1, Semantic, Paragraphs, "class=\"znc\"", "class=\"BodyContent\""),
    shape("ja developer questions", "ja", 2, Semantic, Paragraphs, "id=\"personal-public-article-body\"", "class=\"it-MdContent\""),
    shape("ja newspaper", "ja", 0, Semantic, Paragraphs, "class=\"article_body highLightSearchTarget\"", "class=\"yjSlinkDirectlink\""),
    shape("ja bulletin board", "ja", 1, Board, Breaks, "class=\"post-content\"", "class=\"post\""),
    shape("ja question site", "ja", 2, Flat, Breaks, "class=\"ClapLv1TextBlock_Chie-TextBlock__Text\"", "class=\"ClapLv2QuestionItem\""),
    shape("zh portal blog", "zh", 0, Divisions, Paragraphs, "id=\"sina_keyword_ad_area2\" class=\"articalContent\"", "class=\"artical\""),
    shape("zh developer blog", "zh", 1, Divisions, Paragraphs, "id=\"content_views\" class=\"markdown_views\"", "id=\"article_content\" class=\"article_content\""),
    shape("zh garden blog", "zh", 2, Divisions, Paragraphs, "id=\"cnblogs_post_body\" class=\"blogpost-body\"", "class=\"postBody\""),
    shape("zh notes", "zh", 0, Semantic, Paragraphs, "class=\"_2rhmJa\"", "class=\"ouvJEz\""),
    shape("zh column", "zh", 1, Semantic, Paragraphs, "class=\"RichText ztext Post-RichText\"", "class=\"Post-RichTextContainer\""),
    shape("zh public account", "zh", 2, Flat, Spans, "id=\"js_content\" class=\"rich_media_content\"", "class=\"rich_media_area_primary\""),
    shape("zh developer news", "zh", 0, Semantic, Paragraphs, "class=\"article-viewer markdown-body\"", "class=\"article-content\""),
    shape("zh newspaper", "zh", 1, Divisions, Paragraphs, "id=\"artibody\" class=\"article\"", "class=\"article-content-left\""),
    shape("zh newspaper, old", "zh", 2, Tables, Paragraphs, "id=\"endText\" class=\"post_text\"", "class=\"post_content_main\""),
    shape("zh portal news", "zh", 0, Divisions, Paragraphs, "class=\"content-article\"", "id=\"Cnt-Main-Article-QQ\""),
    shape("zh forum", "zh", 1, Board, Breaks, "class=\"t_f\" id=\"postmessage_1\"", "class=\"pcb\""),
    shape("zh post bar", "zh", 2, Board, Breaks, "class=\"d_post_content j_d_post_content\"", "class=\"p_content\""),
    shape("zh-TW blog", "zh-TW", 0, Divisions, Paragraphs, "class=\"article-content-inner\"", "class=\"article-content\""),
    shape("zh-TW blog, free theme", "zh-TW", 0, Semantic, Paragraphs, "class=\"entry-content\"", "class=\"site-content\""),
    shape("zh-TW essay service", "zh-TW", 0, Semantic, Paragraphs, "class=\"u-content\"", "class=\"content\""),
    shape("zh-TW board", "zh-TW", 0, Flat, Breaks, "id=\"main-content\" class=\"bbs-screen bbs-content\"", "id=\"main-container\""),
];

const KOREAN: [&[&str]; 4] = [
    &[
        "새벽에 일어나 반죽을 꺼내 보니 밤사이 두 배로 부풀어 있었다.",
        "오븐을 데우는 동안 부엌 창문에 김이 서려 밖이 보이지 않았다.",
        "첫 번째 빵은 조금 탔지만 두 번째부터는 빛깔이 고르게 나왔다.",
        "식구들이 일어나기 전에 식탁에 차려 두고 나는 먼저 한 조각을 먹었다.",
    ],
    &[
        "강가를 따라 난 자전거 길은 생각보다 한산해서 달리기 좋았다.",
        "다리 아래에서 쉬는데 물닭 두 마리가 갈대 사이로 들어갔다.",
        "돌아오는 길에는 맞바람이 불어 같은 거리가 두 배로 느껴졌다.",
    ],
    &[
        "오래된 라디오를 고치려고 뒤판을 열었더니 먼지가 한 줌 나왔다.",
        "납땜이 떨어진 곳을 찾는 데에 저녁 시간을 다 썼다.",
        "다시 켜자 지직거리는 소리 사이로 옛 노래가 흘러나왔다.",
        "고친 값보다 그 노래 한 곡이 더 반가웠다.",
        "다음에는 손잡이를 새로 깎아 끼워 볼 생각이다.",
    ],
    &[
        "도서관 앞 은행나무가 올해는 유난히 늦게 물들었다.",
        "사서는 작년 사진을 꺼내 같은 날짜의 나무를 보여 주었다.",
        "사진 속 마당에는 노란 잎이 이미 발목까지 쌓여 있었다.",
    ],
];

const JAPANESE: [&[&str]; 3] = [
    &[
        "朝の市場で小さな鯵を五匹買って、台所でゆっくり開いた。",
        "塩水に浸してから網に並べ、ベランダの風の通る場所に吊るした。",
        "夕方には表面が乾いて、指で触ると少し弾力があった。",
        "焼いてみると、店で買うものより塩気が丸く感じられた。",
    ],
    &[
        "古い時計の裏蓋を開けると、前の持ち主が書いた日付が見つかった。",
        "歯車を一つずつ外して洗い、薄い油を差して組み直した。",
        "次の朝、時計は二分だけ遅れて動いていた。",
    ],
    &[
        "峠の茶屋は今月で店を閉めると張り紙がしてあった。",
        "女将さんは最後だからと言って、餅を一つ余分に付けてくれた。",
        "窓から見える杉林は、初めて来た年と同じ匂いがした。",
    ],
];

const CHINESE: [&[&str]; 3] = [
    &[
        "昨天傍晚我把阳台上的番茄苗全部换到了大盆里。",
        "旧土已经板结，我用手一块一块地捏碎，又掺了些腐叶。",
        "浇透水以后，叶子软软地垂着，看上去像是生了气。",
        "今天早上再去看，它们都已经直起身来了。",
    ],
    &[
        "修理铺的老师傅说这台收音机比我的年纪还大。",
        "他拆开后盖，只换了一个电容，就又听见了声音。",
        "我问他要多少钱，他摆摆手让我下次带一包茶叶来。",
    ],
    &[
        "河边的小路被雨水冲断，我们只好从山坡上绕过去。",
        "坡上长满了野蒜，一路走一路都是那股味道。",
        "到家时鞋底粘了厚厚的泥，母亲让我在门外敲干净。",
    ],
];

const TAIWANESE: [&[&str]; 1] = [&[
    "巷口的麵店今天換了新的招牌，可是味道還是一樣。",
    "老闆娘說她的兒子終於願意回來學煮湯了。",
    "我照例點了一碗乾麵，外加一顆滷得很透的蛋。",
    "離開的時候，外面剛好開始下起小雨。",
]];

/// Words of the frame in one language.
struct Words {
    menu: &'static [&'static str],
    side: &'static [&'static str],
    comments: &'static [&'static str],
    titles: &'static [&'static str],
    foot: &'static str,
    related: &'static str,
    comment_label: &'static str,
}

#[rustfmt::skip]
const KOREAN_WORDS: Words = Words {
    menu: &["홈", "목록", "태그", "방명록", "글쓰기", "관리", "로그인"],
    side: &["전체 보기", "요리 일기", "산책", "읽은 책", "사진첩"],
    comments: &["잘 읽고 갑니다 또 놀러 올게요", "저도 이번 주말에 해 봐야겠네요 고맙습니다"],
    titles: &["지난 여름에 다녀온 바닷가 마을 이야기", "고양이와 함께 사는 일에 대하여", "처음으로 김장을 담근 날의 기록"],
    foot: "이 누리집의 글은 허락 없이 옮길 수 없습니다 이용 약관 개인정보 처리방침 고객센터",
    related: "관련 글",
    comment_label: "댓글",
};
#[rustfmt::skip]
const JAPANESE_WORDS: Words = Words {
    menu: &["ホーム", "記事一覧", "プロフィール", "お問い合わせ", "ログイン"],
    side: &["日記", "料理", "旅行", "読書", "写真"],
    comments: &["とても参考になりました ありがとうございます", "次の記事も楽しみにしています"],
    titles: &["去年の夏に訪れた海辺の町のこと", "猫と暮らすということについて", "初めて味噌を仕込んだ日の記録"],
    foot: "無断転載を禁じます 利用規約 プライバシーポリシー 運営会社",
    related: "関連記事",
    comment_label: "コメント",
};
#[rustfmt::skip]
const CHINESE_WORDS: Words = Words {
    menu: &["首页", "列表", "标签", "留言板", "登录", "注册"],
    side: &["全部文章", "生活随笔", "读书笔记", "旅行", "相册"],
    comments: &["写得真好 下次还来看", "我也想试一试 谢谢分享"],
    titles: &["去年夏天去过的海边小镇的故事", "说说和猫一起生活的日子", "第一次自己腌泡菜的记录"],
    foot: "版权所有 未经许可不得转载 使用条款 隐私政策 联系我们",
    related: "相关文章",
    comment_label: "评论",
};
#[rustfmt::skip]
const TAIWANESE_WORDS: Words = Words {
    menu: &["首頁", "列表", "標籤", "留言板", "登入"],
    side: &["全部文章", "生活隨筆", "讀書筆記", "旅行"],
    comments: &["寫得真好 下次再來看", "我也想試試看 謝謝分享"],
    titles: &["去年夏天去過的海邊小鎮的故事", "說說和貓一起生活的日子", "第一次自己醃泡菜的紀錄"],
    foot: "版權所有 未經許可不得轉載 使用條款 隱私權政策 聯絡我們",
    related: "相關文章",
    comment_label: "留言",
};

/// All pages.
pub fn platform_pages() -> Vec<PlatformPage> {
    SHAPES.iter().map(page).collect()
}

fn page(shape: &Shape) -> PlatformPage {
    let (posts, words): (&[&[&str]], &'static Words) = match shape.language {
        "ko" => (&KOREAN, &KOREAN_WORDS),
        "ja" => (&JAPANESE, &JAPANESE_WORDS),
        "zh" => (&CHINESE, &CHINESE_WORDS),
        _ => (&TAIWANESE, &TAIWANESE_WORDS),
    };
    let post = posts[shape.topic];
    let title: String = post[0].chars().take(9).collect();
    let body = body(shape, post);
    let html = format!(
        "<!DOCTYPE html><html lang=\"{}\"><head><meta charset=\"utf-8\"><title>{title}</title></head><body>{}</body></html>",
        shape.language,
        laid_out(shape.layout, &title, &body, words),
    );
    PlatformPage { name: shape.name.to_owned(), html, post, frame: words.titles }
}

/// The post in its container.
fn body(shape: &Shape, post: &[&str]) -> String {
    let lines: Vec<String> = match shape.lines {
        Paragraphs => post.iter().map(|line| format!("<p>{line}</p>")).collect(),
        Breaks => post.iter().map(|line| format!("{line}<br>\n<br>")).collect(),
        Spans => post
            .iter()
            .map(|line| {
                format!(
                    "<div class=\"component text\"><div class=\"section\"><p class=\"text-paragraph\"><span>{line}</span></p></div></div>"
                )
            })
            .collect(),
    };
    format!("<div {}><div {}>{}</div></div>", shape.around, shape.container, lines.concat())
}

fn links(words: &[&str]) -> String {
    words.iter().map(|word| format!("<li><a href=\"/x\">{word}</a></li>")).collect()
}

fn laid_out(layout: Layout, title: &str, body: &str, words: &Words) -> String {
    let (menu, side, titles) = (links(words.menu), links(words.side), links(words.titles));
    let comments: String =
        words.comments.iter().map(|text| format!("<li><p>{text}</p></li>")).collect();
    let Words { foot, related, comment_label, .. } = words;
    match layout {
        Divisions => format!(
            "<div id=\"wrap\"><div id=\"header\"><div class=\"gnb\"><ul>{menu}</ul></div></div>\
             <div id=\"container\"><div id=\"content\"><div class=\"title\"><h2>{title}</h2></div>{body}\
             <div class=\"another_category\"><h4>{related}</h4><ul>{titles}</ul></div>\
             <div class=\"comments\"><h4>{comment_label} 2</h4><ul>{comments}</ul></div></div>\
             <div id=\"sidebar\"><ul>{side}</ul><ul>{titles}</ul></div></div>\
             <div id=\"footer\"><p>{foot}</p></div></div>"
        ),
        Tables => format!(
            "<table width=\"100%\"><tr><td colspan=\"2\"><ul class=\"menu\">{menu}</ul></td></tr>\
             <tr><td width=\"180\" class=\"side\"><ul>{side}</ul><ul>{titles}</ul></td>\
             <td><table><tr><td><b>{title}</b></td></tr><tr><td>{body}</td></tr>\
             <tr><td class=\"comment\"><ul>{comments}</ul></td></tr></table></td></tr>\
             <tr><td colspan=\"2\" class=\"footer\">{foot}</td></tr></table>"
        ),
        Semantic => format!(
            "<header><nav><ul>{menu}</ul></nav></header><main><article><header><h1>{title}</h1></header>{body}\
             <footer><ul>{side}</ul></footer></article><section class=\"related\"><h2>{related}</h2><ul>{titles}</ul></section>\
             <section class=\"comments\"><h2>{comment_label}</h2><ul>{comments}</ul></section></main>\
             <aside><ul>{side}</ul></aside><footer><p>{foot}</p></footer>"
        ),
        Board => format!(
            "<div id=\"hd\"><ul id=\"gnb\">{menu}</ul></div><div id=\"wrapper\"><div class=\"view\"><h1>{title}</h1>\
             <div class=\"info\"><span>2024.03.05 14:20</span> <span>127</span></div>{body}\
             <div class=\"reply_list\"><ul>{comments}</ul></div></div>\
             <table class=\"board_list\"><tr><td><a href=\"/1\">{}</a></td><td>12</td></tr>\
             <tr><td><a href=\"/2\">{}</a></td><td>31</td></tr></table></div>\
             <div id=\"ft\"><p>{foot}</p></div>",
            words.titles[0], words.titles[1]
        ),
        Flat => format!(
            "<div class=\"page\"><div class=\"top\"><a href=\"/\">{}</a> <a href=\"/l\">{}</a></div>\
             <div class=\"heading\"><h1>{title}</h1></div>{body}\
             <div class=\"list\"><strong>{related}</strong><ul>{titles}</ul></div>\
             <div class=\"bottom\"><p>{foot}</p></div></div>",
            words.menu[0], words.menu[1]
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_its_post_once_and_a_name_of_its_own() {
        let pages = platform_pages();
        let names: std::collections::HashSet<&str> =
            pages.iter().map(|page| page.name.as_str()).collect();
        assert_eq!((pages.len(), names.len()), (50, 50));
        for page in &pages {
            for sentence in page.post {
                assert_eq!(page.html.matches(sentence).count(), 1, "{}: {sentence}", page.name);
            }
        }
    }
}
