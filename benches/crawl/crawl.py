"""A spider that follows every link of one host and keeps address and title of each page."""

import scrapy


class Site(scrapy.Spider):
    name = "site"
    custom_settings = {"ROBOTSTXT_OBEY": True, "DOWNLOAD_DELAY": 0, "TELNETCONSOLE_ENABLED": False}

    def __init__(self, seed, **rest):
        super().__init__(**rest)
        self.start_urls = [seed]
        self.allowed_domains = [seed.split("/")[2].split(":")[0]]

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse)
